// The way of the arrow keys through a graph: along the edges, and beside them among siblings.

import type { Direction, Points, Size } from "./layout";
import { below, type GraphTask } from "./model";

/** Step is an arrow key. */
export type Step = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/** isStep says whether a key is an arrow. */
export function isStep(key: string): key is Step {
  return key === "ArrowLeft" || key === "ArrowRight" || key === "ArrowUp" || key === "ArrowDown";
}

/** Walker knows the neighbours of each task. It is made once per layout. */
export class Walker {
  private readonly needs: ReadonlyMap<string, readonly string[]>;
  private readonly next: ReadonlyMap<string, readonly string[]>;

  constructor(
    tasks: readonly GraphTask[],
    private readonly points: Points,
    private readonly size: Size,
    private readonly direction: Direction,
  ) {
    this.needs = new Map(tasks.map((t) => [t.name, t.needs]));
    this.next = below(tasks);
  }

  /** go returns the task that an arrow key leads to, or undefined where the way ends. */
  go(from: string, step: Step): string | undefined {
    const right = this.direction === "LR";
    if (step === (right ? "ArrowRight" : "ArrowDown")) return this.nearest(from, this.next.get(from) ?? []);
    if (step === (right ? "ArrowLeft" : "ArrowUp")) return this.nearest(from, this.needs.get(from) ?? []);
    return this.sibling(from, step === "ArrowUp" || step === "ArrowLeft" ? -1 : 1);
  }

  private nearest(from: string, names: readonly string[]): string | undefined {
    let best: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const name of names) {
      const far = Math.abs(this.beside(name) - this.beside(from));
      if (name in this.points && far < least) [best, least] = [name, far];
    }
    return best;
  }

  // Of those in the same layer, more or less, the next one in that direction.
  private sibling(from: string, way: 1 | -1): string | undefined {
    const reach = this.direction === "LR" ? this.size.width : this.size.height;
    let best: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const name in this.points) {
      const far = (this.beside(name) - this.beside(from)) * way;
      if (far > 0 && far < least && Math.abs(this.along(name) - this.along(from)) < reach) [best, least] = [name, far];
    }
    return best;
  }

  private along(name: string): number {
    const p = this.points[name];
    return (this.direction === "LR" ? p?.x : p?.y) ?? 0;
  }

  private beside(name: string): number {
    const p = this.points[name];
    return (this.direction === "LR" ? p?.y : p?.x) ?? 0;
  }
}
