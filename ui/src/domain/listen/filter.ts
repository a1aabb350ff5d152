import type { ListenerFilter } from "../../api/listeners";

// What a listener hears: a few ways that most people want, or lists of their own.

export const kinds = [
  "submitted",
  "started",
  "instance_state",
  "ended",
  "task_state",
  "task_ended",
  "task_timeout",
  "queue_timeout",
  "workflow_timeout",
  "item",
  "approved",
  "rejected",
  "pause_overdue",
  "stop_overdue",
  "schedule_broken",
  "schedule_missed",
  "timer_failing",
  "timer_broken",
] as const;

export const presets = ["failures", "ends", "all", "own"] as const;
export type Preset = (typeof presets)[number];

// One filter is one "and" of its lists: an alert has no state, so that failures are told by a condition instead.
const failed = "event != 'ended' || state == 'failed' || state == 'stopped' || state == 'quarantined'";
const filters: Record<Exclude<Preset, "own">, ListenerFilter> = {
  failures: {
    events: [
      "ended",
      "task_timeout",
      "queue_timeout",
      "workflow_timeout",
      "pause_overdue",
      "stop_overdue",
      "schedule_broken",
      "schedule_missed",
      "timer_failing",
      "timer_broken",
    ],
    when: failed,
  },
  ends: { events: ["ended"] },
  all: {},
};

/** Own is a filter as the form has it: lists of words. */
export interface Own {
  events: string[];
  workflows: string[];
  tasks: string[];
  states: string[];
  when: string;
}

export const nothing: Own = { events: [], workflows: [], tasks: [], states: [], when: "" };

/** filterOf is the filter that a form means; keep holds the parts that the form does not show. */
export function filterOf(preset: Preset, own: Own, keep: ListenerFilter = {}): ListenerFilter {
  if (preset !== "own") return filters[preset];
  const list = (words: string[]) => (words.length === 0 ? undefined : words);
  return {
    schedules: keep.schedules,
    reasons: keep.reasons,
    events: list(own.events),
    workflows: list(own.workflows),
    tasks: list(own.tasks),
    states: list(own.states),
    when: own.when.trim() || undefined,
  };
}

function same(a: ListenerFilter, b: ListenerFilter): boolean {
  const words = (list: string[] | null | undefined) => [...(list ?? [])].sort().join(" ");
  return (
    (["events", "workflows", "schedules", "tasks", "states", "reasons"] as const).every((k) => words(a[k]) === words(b[k])) &&
    (a.when ?? "") === (b.when ?? "")
  );
}

/** presetOf finds the way that a filter is, and its lists. */
export function presetOf(filter: ListenerFilter): { preset: Preset; own: Own } {
  const own: Own = {
    events: filter.events ?? [],
    workflows: filter.workflows ?? [],
    tasks: filter.tasks ?? [],
    states: filter.states ?? [],
    when: filter.when ?? "",
  };
  const preset = (["failures", "ends", "all"] as const).find((p) => same(filters[p], filter)) ?? "own";
  return { preset, own };
}

/** tellsFailures says whether a listener would be told that an instance failed. A condition may say no; it is believed. */
export function tellsFailures(filter: ListenerFilter, enabled: boolean): boolean {
  const holds = (list: string[] | null | undefined, word: string) => !list || list.length === 0 || list.includes(word);
  return (
    enabled &&
    (holds(filter.events, "ended") || holds(filter.events, "instance_state")) &&
    holds(filter.states, "failed") &&
    !filter.tasks?.length
  );
}
