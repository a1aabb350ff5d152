// Where the camera stands: what is seen when a graph opens, and how it moves to a task.

import { boundsOf } from "./hit";
import type { Point, Points, Size } from "./layout";

/** Camera is a place in the graph and a scale: a point p is drawn at x + p.x * zoom. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** readable is the smallest zoom at which a page opens: names can still be read. */
export const readable = 0.6;

/** near is the zoom at which a page opens when not all of a graph can be readable. */
export const near = 0.8;

/** fitMax is the most tasks that a page opens with all at once: more are never read at once. */
export const fitMax = 300;

const margin = 24;
// The canvas's buttons stand in the lower left corner.
const tools = 40;

/** fitAll shows all, at most at its own size. */
export function fitAll(points: Points, size: Size, box: Size): Camera {
  const all = boundsOf(points, size);
  const zoom = Math.min(1, (box.width - 2 * margin) / Math.max(1, all.width), (box.height - 2 * margin - tools) / Math.max(1, all.height));
  return {
    x: box.width / 2 - (all.x + all.width / 2) * zoom,
    y: (box.height - tools) / 2 - (all.y + all.height / 2) * zoom,
    zoom: Math.max(zoom, 1e-3),
  };
}

/** centre puts a node into the middle. */
export function centre(point: Point, size: Size, box: Size, zoom: number): Camera {
  return { x: box.width / 2 - (point.x + size.width / 2) * zoom, y: box.height / 2 - (point.y + size.height / 2) * zoom, zoom };
}

/**
 * opening is what a page sees first: all of it where that can be read, else the task that matters
 * in the middle, as far as the graph's own edge allows.
 */
export function opening(points: Points, size: Size, box: Size, focus: string | undefined): Camera {
  const whole = fitAll(points, size, box);
  if (whole.zoom >= readable && Object.keys(points).length <= fitMax) return whole;
  const at = focus === undefined ? undefined : points[focus];
  const all = boundsOf(points, size);
  const wish = centre(at ?? { x: all.x, y: all.y + all.height / 2 - size.height / 2 }, size, box, near);
  return {
    x: within(wish.x, all.x * near, all.width * near, box.width),
    y: within(wish.y, all.y * near, all.height * near, box.height - tools),
    zoom: near,
  };
}

// The middle for what is smaller than the box; for what is larger, no further than its edge.
function within(wish: number, start: number, length: number, room: number): number {
  if (length <= room - 2 * margin) return (room - length) / 2 - start;
  return Math.min(margin - start, Math.max(room - margin - start - length, wish));
}

/** sees says whether a node is wholly on the screen. */
export function sees(camera: Camera, point: Point, size: Size, box: Size): boolean {
  const [left, top] = [point.x * camera.zoom + camera.x, point.y * camera.zoom + camera.y];
  return left >= 0 && top >= 0 && left + size.width * camera.zoom <= box.width && top + size.height * camera.zoom <= box.height;
}

/** nudged moves the camera as little as it takes for a node to be on the screen, with some of what surrounds it. */
export function nudged(camera: Camera, point: Point, size: Size, box: Size): Camera {
  const by = (start: number, length: number, room: number) => {
    if (length > room) return (room - length) / 2 - start;
    const keep = Math.min((room - length) / 2, room / 5);
    if (start < keep) return keep - start;
    return Math.min(0, room - keep - start - length);
  };
  const { zoom } = camera;
  return {
    x: camera.x + by(point.x * zoom + camera.x, size.width * zoom, box.width),
    y: camera.y + by(point.y * zoom + camera.y, size.height * zoom, box.height),
    zoom,
  };
}

/** beside says whether a node is on the screen or on one next to it. */
export function beside(camera: Camera, point: Point, size: Size, box: Size): boolean {
  const { width, height } = box;
  return sees({ ...camera, x: camera.x + width, y: camera.y + height }, point, size, { width: 3 * width, height: 3 * height });
}
