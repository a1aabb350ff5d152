// Which part of a large graph the canvas is given: what is on the screen and a little around it.
// What a canvas costs is then the size of the screen, and not of the graph.

import type { Rect } from "./hit";
import type { GraphTask } from "./model";
import type { Points, Size } from "./shape";
import type { Camera } from "./view";

// How far around the screen a part reaches, how near to its border the screen may come until it is made
// anew, both in screens, and how much larger than a new one an old one may be kept.
const around = 0.75;
const border = 0.25;
const spare = 2;

/** sightOf is what a camera sees. */
export function sightOf({ x, y, zoom }: Camera, box: Size): Rect {
  return { x: -x / zoom, y: -y / zoom, width: box.width / zoom, height: box.height / zoom };
}

/** holds says whether a part has all that is seen. */
export function holds(part: Rect, seen: Rect): boolean {
  return part.x <= seen.x && part.y <= seen.y && part.x + part.width >= seen.x + seen.width && part.y + part.height >= seen.y + seen.height;
}

const widened = ({ x, y, width, height }: Rect, by: number): Rect => ({
  x: x - by * width,
  y: y - by * height,
  width: (1 + 2 * by) * width,
  height: (1 + 2 * by) * height,
});

/**
 * partOf is the part of the graph around what is seen. The last one stays until the screen comes near its
 * border: most movements leave the canvas what it has, and the next part is ready before it is seen.
 */
export function partOf(seen: Rect, last?: Rect): Rect {
  const next = widened(seen, around);
  if (last && last.width <= spare * next.width && holds(last, widened(seen, border))) return last;
  return next;
}

/**
 * tasksIn gives the tasks in a part, in their order, with both ends of each edge that may cross it: an edge
 * is drawn though neither of its ends is on the screen.
 */
export function tasksIn<T extends GraphTask>(tasks: readonly T[], points: Points, size: Size, part: Rect): T[] {
  const [right, bottom] = [part.x + part.width, part.y + part.height];
  const names = new Set<string>();
  for (const task of tasks) {
    const p = points[task.name];
    if (!p) continue;
    if (p.x <= right && p.x + size.width >= part.x && p.y <= bottom && p.y + size.height >= part.y) names.add(task.name);
    for (const need of task.needs) {
      const q = points[need];
      if (!q) continue;
      const wide = Math.min(p.x, q.x) <= right && Math.max(p.x, q.x) + size.width >= part.x;
      if (wide && Math.min(p.y, q.y) <= bottom && Math.max(p.y, q.y) + size.height >= part.y) names.add(task.name).add(need);
    }
  }
  return tasks.filter((t) => names.has(t.name));
}
