import type { Edge } from "../domain/graph/model";
import type { Point, Points, Size } from "../domain/graph/shape";
import type { Camera } from "../domain/graph/view";
import { type Fill, type Hue, lookOf } from "../domain/states";
import type { Palette } from "./palette";

// A graph drawn on a canvas as rectangles and lines: the far view and the overview share it.
// Everything of one colour is one path: a draw call per node would take ten times as long.

/** Spot is how one task looks from afar. No hue: a task without a state. */
export interface Spot {
  hue?: Hue;
  fill?: Fill;
  dim?: boolean;
  chosen?: boolean;
}

/** spotOf gives a state's look from afar. */
export function spotOf(state: string | undefined, more: Pick<Spot, "dim" | "chosen"> = {}): Spot {
  return state ? { ...lookOf(state), ...more } : more;
}

/** Scene is all that is drawn. Places, spots and edges are replaced, never changed in place. */
export interface Scene {
  points: Points;
  size: Size;
  edges: readonly Pick<Edge, "from" | "to">[];
  spots: ReadonlyMap<string, Spot>;
  direction: "LR" | "TB";
}

const dimmed = 0.3;

/** drawScene draws what a camera sees on a canvas of this size in CSS pixels. */
export function drawScene(ctx: CanvasRenderingContext2D, scene: Scene, camera: Camera, box: Size, palette: Palette, ratio: number): void {
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  // Its own ground: a forced high-contrast page behind it would take the tokens' contrast away.
  ctx.fillStyle = palette.ground;
  ctx.fillRect(0, 0, box.width, box.height);
  ctx.setTransform(ratio * camera.zoom, 0, 0, ratio * camera.zoom, ratio * camera.x, ratio * camera.y);
  const seen = sight(camera, box);
  drawEdges(ctx, scene, seen, camera.zoom, palette);
  drawSpots(ctx, scene, seen, camera.zoom, palette);
}

interface Sight {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

function sight({ x, y, zoom }: Camera, box: Size): Sight {
  return { left: -x / zoom, top: -y / zoom, right: (box.width - x) / zoom, bottom: (box.height - y) / zoom };
}

function drawEdges(ctx: CanvasRenderingContext2D, scene: Scene, seen: Sight, zoom: number, palette: Palette): void {
  const { points, size, direction, spots } = scene;
  const right = direction === "LR";
  const [outX, outY] = right ? [size.width, size.height / 2] : [size.width / 2, size.height];
  const [inX, inY] = right ? [0, size.height / 2] : [size.width / 2, 0];
  const clear = new Path2D();
  const faint = new Path2D();
  for (const { from, to } of scene.edges) {
    const [a, b] = [points[from], points[to]];
    if (!a || !b || apart(a, b, size, seen)) continue;
    const path = spots.get(from)?.dim || spots.get(to)?.dim ? faint : clear;
    path.moveTo(a.x + outX, a.y + outY);
    path.lineTo(b.x + inX, b.y + inY);
  }
  ctx.lineWidth = 1 / zoom;
  ctx.strokeStyle = palette.edge;
  ctx.globalAlpha = 0.55;
  ctx.stroke(clear);
  ctx.globalAlpha = dimmed * 0.55;
  ctx.stroke(faint);
  ctx.globalAlpha = 1;
}

function apart(a: Point, b: Point, size: Size, seen: Sight): boolean {
  return (
    Math.max(a.x, b.x) + size.width < seen.left ||
    Math.min(a.x, b.x) > seen.right ||
    Math.max(a.y, b.y) + size.height < seen.top ||
    Math.min(a.y, b.y) > seen.bottom
  );
}

interface Layer {
  color: string;
  alpha: number;
  full: boolean;
  path: Path2D;
}

function drawSpots(ctx: CanvasRenderingContext2D, scene: Scene, seen: Sight, zoom: number, palette: Palette): void {
  const { width, height } = scene.size;
  const layers = new Map<string, Layer>();
  const chosen = new Path2D();
  const ring = 4 / zoom;
  for (const name in scene.points) {
    const p = scene.points[name];
    if (!p || apart(p, p, scene.size, seen)) continue;
    const spot = scene.spots.get(name) ?? {};
    const full = spot.fill === "solid" || spot.fill === "striped";
    const key = `${spot.hue ?? ""} ${full} ${spot.dim ?? false}`;
    let layer = layers.get(key);
    if (!layer) {
      layer = { color: spot.hue ? palette.hues[spot.hue] : palette.plain, alpha: spot.dim ? dimmed : 1, full, path: new Path2D() };
      layers.set(key, layer);
    }
    layer.path.rect(p.x, p.y, width, height);
    if (spot.chosen) chosen.rect(p.x - ring, p.y - ring, width + 2 * ring, height + 2 * ring);
  }
  ctx.lineWidth = 1.5 / zoom;
  for (const { color, alpha, full, path } of layers.values()) {
    // The ground under a dim or hollow node hides the lines behind it, as on the near view.
    ctx.fillStyle = palette.ground;
    ctx.fill(path);
    ctx.globalAlpha = alpha;
    ctx.fillStyle = color;
    ctx.strokeStyle = color;
    if (full) ctx.fill(path);
    else ctx.stroke(path);
    ctx.globalAlpha = 1;
  }
  ctx.lineWidth = 2 / zoom;
  ctx.strokeStyle = palette.ink;
  ctx.stroke(chosen);
}
