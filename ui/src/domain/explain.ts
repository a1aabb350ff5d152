import type { Explanation } from "../api/client";

// What the tree of reasons means for a page: which leaf is the one at fault, which
// sentence says it in the reader's language, and what may be done about it.

export interface RootCause {
  task: string | undefined;
  code: string;
  text: string;
  e: Explanation;
  said: string[]; // the worker's message, and the last line of the output
}

const sayings = new Set(["message", "output"]);

/** rootCauses lists the reasons that have no further reason, in the server's order. */
export function rootCauses(e: Explanation): RootCause[] {
  const found: RootCause[] = [];
  const seen = new Set<string>();
  const walk = (node: Explanation) => {
    const causes = node.causes ?? [];
    const further = causes.filter((c) => !sayings.has(c.code));
    if (further.length > 0) {
      for (const c of further) walk(c);
      return;
    }
    const task = node.args?.task;
    const key = `${node.code} ${task ?? node.text}`;
    if (seen.has(key)) return;
    seen.add(key);
    found.push({ task, code: node.code, text: node.text, e: node, said: causes.map((c) => c.args?.line ?? c.text) });
  };
  walk(e);
  return found;
}

/** Said is a sentence's name with what stands in it. The reason is a code of its own, at a moment in time. */
export interface Said {
  key: WhyKey;
  values: Record<string, string | number>;
  reason?: string;
  at?: string;
}

/** whyKeys name the sentences; each stands as why.<name> in every language. */
export const whyKeys = [
  "notInScope",
  "waiting",
  "waitingBegin",
  "waitingItself",
  "ready",
  "delayed",
  "readyElsewhere",
  "dispatched",
  "running",
  "runningWait",
  "retryWait",
  "killing",
  "upstreamFailed",
  "taskSuccess",
  "cached",
  "forcedSuccess",
  "skipped",
  "passedOver",
  "comesLast",
  "undoes",
  "repeats",
  "disabled",
  "killed",
  "taskFailed",
  "submitted",
  "serialWait",
  "instanceRunning",
  "pausing",
  "paused",
  "stopping",
  "stopped",
  "failed",
  "success",
  "quarantined",
  "more",
  "said",
  "outputEnds",
  "noMaster",
  "noOwner",
  "noWorker",
  "noLabelledWorker",
  "noSlots",
  "noFreeSlot",
  "noFreeLabelledSlot",
  "workerGone",
  "runningChild",
  "runningChildren",
  "runningDependent",
  "runningApproval",
  "runningApproved",
  "killingChild",
  "killingChildren",
  "child",
  "held",
  "holdsPlace",
  "placeAhead",
  "placeReplaced",
  "noTaskGroup",
  "taskGroupFull",
  "taskGroupRate",
  "taskGroupSmall",
  "taskGroupStopped",
  "holdsTaskGroup",
  "dependencyHidden",
  "dependencySatisfied",
  "dependencyFirstRun",
  "dependencyMissing",
  "dependencyRunning",
  "dependencyFailed",
  "dependencyGone",
  "dependencyHeld",
] as const;
export type WhyKey = (typeof whyKeys)[number];

type Choose = (e: Explanation, args: Record<string, string>) => WhyKey;
const always =
  (key: WhyKey): Choose =>
  () =>
    key;
const ofTask =
  (task: WhyKey, instance: WhyKey): Choose =>
  (_, args) =>
    args.task !== undefined ? task : instance;

const table: Record<string, Choose> = {
  not_in_scope: always("notInScope"),
  waiting: (e, args) => (args.needs !== undefined ? "waiting" : (e.causes ?? []).length > 0 ? "waitingBegin" : "waitingItself"),
  ready: always("ready"),
  delayed: always("delayed"),
  ready_elsewhere: always("readyElsewhere"),
  cached: always("cached"),
  dispatched: always("dispatched"),
  running: (_, args) =>
    args.task === undefined
      ? "instanceRunning"
      : args.children !== undefined
        ? "runningChildren"
        : args.child !== undefined
          ? "runningChild"
          : args.dependent !== undefined
            ? "runningDependent"
            : args.approval !== undefined
              ? args.approved_by === undefined
                ? "runningApproval"
                : "runningApproved"
              : args.worker === undefined
                ? "runningWait"
                : "running",
  retry_wait: always("retryWait"),
  killing: (_, args) => (args.children !== undefined ? "killingChildren" : args.child === undefined ? "killing" : "killingChild"),
  upstream_failed: always("upstreamFailed"),
  success: ofTask("taskSuccess", "success"),
  forced_success: always("forcedSuccess"),
  skipped: (_, args) => (args.reason === undefined ? "skipped" : "passedOver"),
  waiting_undo: always("undoes"),
  waiting_repeat: always("repeats"),
  waiting_finally: always("comesLast"),
  disabled: always("disabled"),
  killed: always("killed"),
  failed: ofTask("taskFailed", "failed"),
  submitted: always("submitted"),
  serial_wait: always("serialWait"),
  pausing: always("pausing"),
  paused: always("paused"),
  stopping: always("stopping"),
  stopped: always("stopped"),
  quarantined: always("quarantined"),
  more: always("more"),
  message: always("said"),
  output: always("outputEnds"),
  no_master: always("noMaster"),
  no_owner: always("noOwner"),
  no_worker: always("noWorker"),
  no_labelled_worker: always("noLabelledWorker"),
  no_slots: always("noSlots"),
  no_free_slot: (_, args) => (args.labels === undefined ? "noFreeSlot" : "noFreeLabelledSlot"),
  worker_gone: always("workerGone"),
  child: always("child"),
  dependency_satisfied: always("dependencySatisfied"),
  dependency_first_run: always("dependencyFirstRun"),
  // What it waits for in a project that the reader may not see has no name.
  dependency_missing: (_, args) => (args.workflow === undefined ? "dependencyHidden" : "dependencyMissing"),
  dependency_running: always("dependencyRunning"),
  dependency_failed: always("dependencyFailed"),
  dependency_gone: always("dependencyGone"),
  dependency_date: always("said"),
  dependency_all: always("said"),
  dependency_any: always("said"),
  dependency_failed_wait: always("dependencyHeld"),
  held: always("held"),
  holds_place: always("holdsPlace"),
  place_ahead: always("placeAhead"),
  place_replaced: always("placeReplaced"),
  no_task_group: always("noTaskGroup"),
  task_group_full: always("taskGroupFull"),
  task_group_rate: always("taskGroupRate"),
  task_group_small: always("taskGroupSmall"),
  task_group_stopped: always("taskGroupStopped"),
  holds_task_group: always("holdsTaskGroup"),
};

const counted: Partial<Record<WhyKey, string>> = {
  waiting: "needs",
  taskFailed: "attempt",
  instanceRunning: "open",
  comesLast: "open",
  pausing: "active",
  paused: "open",
  stopping: "active",
  more: "count",
  noFreeSlot: "slots",
  noFreeLabelledSlot: "slots",
  placeAhead: "count",
};

/** sentenceOf finds the words for a reason; undefined where this console does not know its code. */
export function sentenceOf(e: Explanation): Said | undefined {
  const args = e.args ?? {};
  const key = table[e.code]?.(e, args);
  if (key === undefined) return undefined;
  const count = counted[key];
  return {
    key,
    values: { ...args, what: whatOf(args), text: e.text, ...(count === undefined ? {} : { count: Number(args[count] ?? 0) }) },
    reason: args.reason || undefined,
    at: args.at ?? args.until,
  };
}

// What a dependent task waits for, by its full name.
function whatOf({ project, workflow, task }: Record<string, string>): string {
  const whole = `${project ?? ""}/${workflow ?? ""}`;
  return task === undefined ? whole : `${whole} · ${task}`;
}

export interface Remedy {
  verb: "recover" | "release" | "resume" | "skip" | "force_success" | "kill";
  task?: string;
}

/** remedyOf is what a person may do about a reason, where one verb would. */
export function remedyOf(e: Explanation): Remedy | undefined {
  const task = e.args?.task;
  switch (e.code) {
    case "failed":
      return task === undefined ? { verb: "recover" } : { verb: "force_success", task };
    case "stopped":
      return { verb: "recover" };
    case "quarantined":
      return { verb: "release" };
    case "paused":
    case "pausing":
      return task === undefined ? { verb: "resume" } : undefined;
    case "retry_wait":
    case "ready":
    case "delayed":
    case "ready_elsewhere":
      return task === undefined ? undefined : { verb: "skip", task };
    default:
      return undefined;
  }
}
