// Where the tasks stand that have no saved place, and which way a canvas runs.

import { type Direction, defaults, type Point, type Points, placeNew, towards } from "../../domain/graph/layout";
import type { GraphTask } from "../../domain/graph/model";

/** atOnceMax is how many tasks are placed on the page's own thread: some tens of milliseconds of dagre. */
export const atOnceMax = 40;

/** Arranged is the canvas: all places, those among them that nobody has chosen, and the tasks that still have none. */
export interface Arranged {
  readonly points: Points;
  readonly drawn: Points;
  readonly missing: number;
}

/**
 * Arranger remembers the places that it has given, so that nothing jumps: a task that goes and
 * comes back by undo, or that gets another name, stands where it stood.
 */
export class Arranger {
  private given = new Map<string, Point>();
  private last: { tasks: readonly GraphTask[]; points: Points } = { tasks: [], points: {} };

  /** arrange places what it can at once; a crowd of new tasks is left to a worker, whose answer comes by take. */
  arrange(tasks: readonly GraphTask[], saved: Points, direction: Direction): Arranged {
    this.carryNames(tasks, saved);
    const points: Record<string, Point> = {};
    let missing = 0;
    for (const { name } of tasks) {
      const p = Object.hasOwn(saved, name) ? saved[name] : this.given.get(name);
      if (p) points[name] = p;
      else missing++;
    }
    if (missing > 0 && missing <= atOnceMax) {
      for (const [name, p] of Object.entries(placeNew(tasks, points, towards(direction)))) {
        this.given.set(name, p);
        points[name] = p;
      }
      missing = 0;
    }
    const drawn = Object.fromEntries(Object.entries(points).filter(([name]) => !Object.hasOwn(saved, name)));
    this.last = { tasks, points };
    return { points, drawn, missing };
  }

  /** take remembers places that were made elsewhere. */
  take(points: Points): void {
    for (const [name, p] of Object.entries(points)) this.given.set(name, p);
  }

  // A task at the same place in the text with a name that nobody had is the old one under another name.
  private carryNames(tasks: readonly GraphTask[], saved: Points): void {
    if (tasks === this.last.tasks || tasks.length !== this.last.tasks.length) return;
    const now = new Set(tasks.map((t) => t.name));
    tasks.forEach((task, i) => {
      const before = this.last.tasks[i]?.name;
      if (before === undefined || before === task.name || now.has(before)) return;
      const p = this.last.points[before];
      if (p && !Object.hasOwn(saved, task.name) && !this.given.has(task.name)) this.given.set(task.name, p);
    });
  }
}

/** directionOf tells by the places which way most edges run; where they do not say, it is the one before. */
export function directionOf(tasks: readonly GraphTask[], points: Points, before: Direction): Direction {
  let [right, down] = [0, 0];
  for (const task of tasks) {
    const b = points[task.name];
    for (const need of task.needs) {
      const a = points[need];
      if (!a || !b) continue;
      if (b.x - a.x >= defaults.size.width) right++;
      if (b.y - a.y >= defaults.size.height) down++;
    }
  }
  return down === right ? before : down > right ? "TB" : "LR";
}

/** Room is where a task stands that comes between two others, and who makes way for it. */
export interface Room {
  readonly at: Point;
  readonly moves: Record<string, Point>;
}

/** makeRoom puts a task between two; where it does not fit, all that stand beyond it move on by one layer. */
export function makeRoom(points: Points, from: string, to: string, direction: Direction): Room {
  const { size, gap } = towards(direction);
  const [a, b] = [points[from] ?? { x: 0, y: 0 }, points[to] ?? { x: 0, y: 0 }];
  const right = direction === "LR";
  const step = right ? size.width + gap.width : size.height + gap.height;
  const room = right ? b.x - a.x : b.y - a.y;
  const middle = (n: number, m: number) => Math.round((n + m) / 2);
  if (room < 0 || room >= 2 * step - (right ? gap.width : gap.height) / 2) {
    return { at: { x: middle(a.x, b.x), y: middle(a.y, b.y) }, moves: {} };
  }
  const push = Math.max(0, 2 * step - room);
  const moves: Record<string, Point> = {};
  for (const [name, p] of Object.entries(points)) {
    if (right && p.x >= b.x) moves[name] = { x: p.x + push, y: p.y };
    if (!right && p.y >= b.y) moves[name] = { x: p.x, y: p.y + push };
  }
  const at = right ? { x: a.x + step, y: middle(a.y, b.y) } : { x: middle(a.x, b.x), y: a.y + step };
  return { at, moves };
}

/** beside finds the nearest place downwards where a group of nodes overlaps none that stands. */
export function beside(points: Points, group: Points, want: Point): Record<string, Point> {
  const { size, gap } = defaults;
  const own = Object.entries(group);
  const left = Math.min(...own.map(([, p]) => p.x));
  const top = Math.min(...own.map(([, p]) => p.y));
  const standing = Object.values(points);
  const hits = (dx: number, dy: number) =>
    own.some(([, p]) =>
      standing.some((q) => Math.abs(q.x - p.x - dx) < size.width + gap.height && Math.abs(q.y - p.y - dy) < size.height + gap.height),
    );
  const dx = Math.round(want.x - left);
  let dy = Math.round(want.y - top);
  while (hits(dx, dy)) dy += size.height + gap.height;
  return Object.fromEntries(own.map(([name, p]) => [name, { x: p.x + dx, y: p.y + dy }]));
}
