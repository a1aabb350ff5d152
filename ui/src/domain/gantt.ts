import type { InstanceEvent } from "../api/client";

// The history of an instance as bars: for every task, what it was doing when.

export type Phase = "wait" | "queue" | "dispatch" | "run" | "retry";

export interface Segment {
  phase: Phase;
  state: string; // how a run ended, or running
  attempt: number;
  from: number;
  to: number; // now, where it goes on
}

export interface GanttRow {
  task: string;
  segments: Segment[];
  from: number;
  to: number;
}

export interface Gantt {
  rows: GanttRow[];
  from: number;
  to: number;
}

const phases: Record<string, Phase> = {
  ready: "queue",
  dispatched: "dispatch",
  running: "run",
  killing: "run",
  retry_wait: "retry",
};

interface Open {
  phase: Phase;
  from: number;
  attempt: number;
  since?: number; // of the first phase of a round: when the task began to wait for others
}

/** gantt reads the events once, in order; now ends what has not ended. */
export function gantt(events: InstanceEvent[], now: number): Gantt {
  const rows = new Map<string, GanttRow>();
  const open = new Map<string, Open>();
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  let roundNumber = 0;
  let round = Number.NaN; // when the round that is being read began
  const waited = new Set<string>(); // tasks whose wait in this round was drawn
  const close = (task: string, at: number, state: string) => {
    const was = open.get(task);
    if (!was) return;
    open.delete(task);
    // A short task ends before its start was told: what was dispatched has run.
    const phase = was.phase === "dispatch" && state !== "next" && state !== "" ? "run" : was.phase;
    const row = rows.get(task) ?? { task, segments: [], from: was.from, to: at };
    if (was.since !== undefined && was.since < was.from) {
      row.segments.push({ phase: "wait", state: "waiting", attempt: 0, from: was.since, to: was.from });
    }
    row.segments.push({
      phase,
      state: state === "next" ? "success" : state,
      attempt: was.attempt,
      from: was.from,
      to: Math.max(at, was.from),
    });
    row.to = Math.max(row.to, at);
    rows.set(task, row);
  };
  for (const e of events) {
    const at = Date.parse(e.at);
    from = Math.min(from, at);
    to = Math.max(to, at);
    if (e.code === "instance" && e.state === "running" && !(e.round === roundNumber && Number.isFinite(round))) {
      round = at;
      roundNumber = e.round;
      waited.clear();
    }
    if (e.code !== "task" || !e.task || !e.state) continue;
    const phase = phases[e.state];
    const was = open.get(e.task);
    // A kill goes on as the same run: its bar has one end.
    if (phase && was?.phase === phase && phase === "run") continue;
    // A run that is followed by the queue was lost with its worker, or handed back.
    const back = phase === "queue" && (was?.phase === "run" || was?.phase === "dispatch");
    const ended = back
      ? e.reason === "worker_lost"
        ? "lost"
        : "returned"
      : phase && phase !== "retry"
        ? "next"
        : phase === "retry"
          ? "failed"
          : e.state;
    close(e.task, at, ended);
    if (!phase) continue;
    const since = Number.isFinite(round) && !waited.has(e.task) ? round : undefined;
    waited.add(e.task);
    open.set(e.task, { phase, from: at, attempt: e.attempt ?? was?.attempt ?? 0, since });
  }
  for (const [task, was] of [...open]) {
    close(task, now, was.phase === "run" ? "running" : "");
    to = Math.max(to, now);
  }
  if (!Number.isFinite(from)) return { rows: [], from: now, to: now };
  return { rows: [...rows.values()], from, to };
}

/** medianAt is when the latest run of a task would end if it took as long as its median; undefined for one that never ran. */
export function medianAt(row: GanttRow, median: number | undefined): number | undefined {
  const run = row.segments.findLast((s) => s.phase === "run");
  return run === undefined || median === undefined || median <= 0 ? undefined : run.from + median;
}

export type GanttSort = "start" | "graph" | "duration";

export function sorted(rows: GanttRow[], by: GanttSort, order: Map<string, number>): GanttRow[] {
  const rank = (r: GanttRow) => order.get(r.task) ?? Number.MAX_SAFE_INTEGER;
  const compare: Record<GanttSort, (a: GanttRow, b: GanttRow) => number> = {
    start: (a, b) => a.from - b.from || rank(a) - rank(b),
    graph: (a, b) => rank(a) - rank(b),
    duration: (a, b) => b.to - b.from - (a.to - a.from) || rank(a) - rank(b),
  };
  return [...rows].sort(compare[by]);
}

/** ticks are up to about count round moments between two. */
export function ticks(from: number, to: number, count: number): number[] {
  const sizes = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 216e5, 432e5, 864e5,
  ];
  const size = sizes.find((s) => (to - from) / s <= count) ?? 864e5 * Math.ceil((to - from) / 864e5 / count);
  const all: number[] = [];
  for (let at = Math.ceil(from / size) * size; at <= to; at += size) all.push(at);
  return all;
}

/** criticalPath is the chain that the end waited for: from what ended last, back by the need that ended last. */
export function criticalPath(rows: GanttRow[], needs: Map<string, string[]>): Set<string> {
  const by = new Map(rows.map((r) => [r.task, r]));
  const path = new Set<string>();
  let at = rows.reduce<GanttRow | undefined>((last, r) => (last === undefined || r.to > last.to ? r : last), undefined);
  while (at !== undefined && !path.has(at.task)) {
    path.add(at.task);
    at = (needs.get(at.task) ?? []).reduce<GanttRow | undefined>((last, name) => {
      const r = by.get(name);
      return r !== undefined && (last === undefined || r.to > last.to) ? r : last;
    }, undefined);
  }
  return path;
}

/** zoomOf reads the part of the chart that the address names, kept within the whole. */
export function zoomOf(text: string | undefined, whole: { from: number; to: number }): { from: number; to: number } {
  const [from, to] = (text ?? "").split("-").map(Number);
  if (from === undefined || to === undefined || !(to > from)) return whole;
  const inner = { from: Math.max(whole.from, from), to: Math.min(whole.to, to) };
  return inner.to > inner.from ? inner : whole;
}
