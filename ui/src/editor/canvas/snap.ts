// Snap lines: a node that is dragged settles in line with those around it.

import type { Point } from "../../domain/graph/layout";

/** Snapped is where a node goes, and the lines that say why. */
export interface Snapped {
  readonly at: Point;
  /** x is the left edge and y the upper edge that it shares with another node. */
  readonly x?: number;
  readonly y?: number;
}

/** snap moves a node by at most reach so that it stands in line with another; nodes have one size, so edges and middles agree. */
export function snap(at: Point, others: Iterable<Point>, reach: number): Snapped {
  let x: number | undefined;
  let y: number | undefined;
  for (const p of others) {
    if (Math.abs(p.x - at.x) <= Math.min(reach, Math.abs((x ?? Number.POSITIVE_INFINITY) - at.x))) x = p.x;
    if (Math.abs(p.y - at.y) <= Math.min(reach, Math.abs((y ?? Number.POSITIVE_INFINITY) - at.y))) y = p.y;
  }
  return { at: { x: x ?? at.x, y: y ?? at.y }, ...(x !== undefined && { x }), ...(y !== undefined && { y }) };
}
