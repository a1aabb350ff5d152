// Which node is under the pointer, and which are in a rectangle, without a DOM element per node.

import type { Point, Points, Size } from "./shape";

/** Rect is a part of the canvas. */
export interface Rect extends Point, Size {}

/** HitGrid finds nodes by cells of a grid. It is made once per layout; all nodes have one size. */
export class HitGrid {
  private readonly cells = new Map<number, string[]>();
  private readonly order = new Map<string, number>();
  private readonly cell: Size;

  /** The cell is twice a node, so that a node lies in four at most. */
  constructor(
    private readonly points: Points,
    private readonly size: Size,
  ) {
    this.cell = { width: Math.max(1, size.width * 2), height: Math.max(1, size.height * 2) };
    Object.entries(points).forEach(([name, p], i) => {
      this.order.set(name, i);
      for (const key of this.keys({ ...p, ...size })) {
        const list = this.cells.get(key);
        if (list) list.push(name);
        else this.cells.set(key, [name]);
      }
    });
  }

  /** at returns the uppermost node at a point; reach widens all nodes, as small ones need on a zoomed-out canvas. */
  at(point: Point, reach = 0): string | undefined {
    const { width, height } = this.size;
    let best: string | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const name of this.near({ x: point.x - reach, y: point.y - reach, width: 2 * reach, height: 2 * reach })) {
      const p = this.points[name];
      if (!p) continue;
      const dx = Math.max(p.x - point.x, 0, point.x - p.x - width);
      const dy = Math.max(p.y - point.y, 0, point.y - p.y - height);
      const far = Math.hypot(dx, dy);
      const upper = (this.order.get(name) ?? 0) > (best === undefined ? -1 : (this.order.get(best) ?? -1));
      if (far <= reach && (far < least || (far === least && upper))) {
        best = name;
        least = far;
      }
    }
    return best;
  }

  /** within returns the nodes that a rectangle touches, in the order they were given. */
  within(rect: Rect): string[] {
    const { width, height } = this.size;
    return [...this.near(rect)]
      .filter((name) => {
        const p = this.points[name];
        return p && p.x <= rect.x + rect.width && p.x + width >= rect.x && p.y <= rect.y + rect.height && p.y + height >= rect.y;
      })
      .sort((a, b) => (this.order.get(a) ?? 0) - (this.order.get(b) ?? 0));
  }

  private near(rect: Rect): Set<string> {
    const out = new Set<string>();
    for (const key of this.keys(rect)) for (const name of this.cells.get(key) ?? []) out.add(name);
    return out;
  }

  // A rectangle far larger than the canvas would name more cells than there are: then all that exist are looked at.
  private keys(rect: Rect): Iterable<number> {
    const [left, right] = [Math.floor(rect.x / this.cell.width), Math.floor((rect.x + rect.width) / this.cell.width)];
    const [top, bottom] = [Math.floor(rect.y / this.cell.height), Math.floor((rect.y + rect.height) / this.cell.height)];
    const many = (right - left + 1) * (bottom - top + 1);
    if (!(many <= 64 || many <= this.cells.size)) return this.cells.keys();
    const out: number[] = [];
    for (let x = left; x <= right; x++) for (let y = top; y <= bottom; y++) out.push(x * 4194304 + y);
    return out;
  }
}

/** boundsOf returns the rectangle around all nodes. */
export function boundsOf(points: Points, size: Size): Rect {
  let [left, top, right, bottom] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const p of Object.values(points)) {
    left = Math.min(left, p.x);
    top = Math.min(top, p.y);
    right = Math.max(right, p.x + size.width);
    bottom = Math.max(bottom, p.y + size.height);
  }
  return left > right ? { x: 0, y: 0, width: 0, height: 0 } : { x: left, y: top, width: right - left, height: bottom - top };
}
