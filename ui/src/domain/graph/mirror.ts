// What undoes tasks, as the mirror of the graph: beside the work, in the reverse of its order.

import { boundsOf } from "./hit";
import { below, type GraphTask } from "./model";
import type { Options, Points } from "./shape";

/** undoes tells the tasks that undo another one, by the end of their name: no name that people give has a colon. */
export function undoes(name: string): boolean {
  return name.endsWith(":compensate");
}

/** Mirror is a graph with what undoes its tasks kept apart. */
export interface Mirror<T extends GraphTask> {
  /** The tasks that do the work: they alone decide where all stands. */
  readonly forward: readonly T[];
  /** All, where what undoes a task comes after it and after what undoes the tasks that followed it. */
  readonly all: readonly T[];
  /** Of each that undoes one, the task that it undoes. */
  readonly undone: ReadonlyMap<string, string>;
}

/** The most back-links to one of the mirror's tasks: where a hundred followed, a hundred lines would tell nothing. */
const maxLinks = 12;

/** mirrorOf parts a graph. Without anything that undoes, both lists are the one that it was given. */
export function mirrorOf<T extends GraphTask>(tasks: readonly T[]): Mirror<T> {
  const undone = new Map<string, string>();
  for (const { name, needs } of tasks) if (undoes(name) && needs[0] !== undefined) undone.set(name, needs[0]);
  if (undone.size === 0) return { forward: tasks, all: tasks, undone };
  const forward = tasks.filter((x) => !undone.has(x.name));
  const undoer = new Map([...undone].map(([undo, of]) => [of, undo]));
  const before = firstUndone(forward, undoer);
  const all = tasks.map((x) => {
    const of = undone.get(x.name);
    return of === undefined ? x : { ...x, needs: [of, ...(before.get(of) ?? [])] };
  });
  return { forward, all, undone };
}

// For each task what undoes the nearest ones below it: from the last tasks up, so that each is looked at once.
function firstUndone(tasks: readonly GraphTask[], undoer: ReadonlyMap<string, string>): Map<string, string[]> {
  const next = below(tasks);
  const needs = new Map(tasks.map((x) => [x.name, x.needs]));
  const left = new Map(tasks.map((x) => [x.name, next.get(x.name)?.length ?? 0]));
  const ready = tasks.filter((x) => left.get(x.name) === 0).map((x) => x.name);
  const out = new Map<string, string[]>();
  for (const name of ready) {
    const found = new Set<string>();
    for (const follower of next.get(name) ?? []) {
      const own = undoer.get(follower);
      for (const undo of own === undefined ? (out.get(follower) ?? []) : [own]) if (found.size < maxLinks) found.add(undo);
    }
    out.set(name, [...found]);
    for (const need of needs.get(name) ?? []) {
      const n = (left.get(need) ?? 0) - 1;
      left.set(need, n);
      if (n === 0) ready.push(need);
    }
  }
  return out;
}

/** Band is the ground between the work and its mirror: where its words stand. */
export interface Band {
  readonly x: number;
  readonly y: number;
}

/** Reflected is the places of all, and where the mirror begins; no band where nothing undoes. */
export interface Reflected {
  readonly points: Points;
  readonly band: Band | undefined;
}

/** reflect gives what undoes a task its place: straight across the border of the graph, what stands nearest to it first. */
export function reflect(points: Points, undone: ReadonlyMap<string, string>, { size, gap, direction }: Options): Reflected {
  const seen = [...undone].flatMap(([undo, of]) => {
    const p = points[of];
    return p ? [{ undo, p }] : [];
  });
  if (seen.length === 0) return { points, band: undefined };
  const right = direction === "LR";
  const all = boundsOf(points, size);
  const across = (p: { x: number; y: number }) => (right ? p.y : p.x);
  const extent = right ? size.height : size.width;
  const step = extent + (right ? gap.height : gap.width);
  const start = right ? all.y + all.height + 72 : all.x + all.width + 72;
  const out: Record<string, { x: number; y: number }> = { ...points };
  let lane = -1;
  let border = Number.POSITIVE_INFINITY;
  for (const { undo, p } of seen.toSorted((a, b) => across(b.p) - across(a.p))) {
    // Tasks that stand side by side share a lane: one further than a node's extent from its first begins the next.
    if (border - across(p) >= extent) {
      lane++;
      border = across(p);
    }
    const at = start + lane * step;
    out[undo] = right ? { x: p.x, y: at } : { x: at, y: p.y };
  }
  return { points: out, band: right ? { x: all.x, y: start - 34 } : { x: start, y: all.y - 34 } };
}
