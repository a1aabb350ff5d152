// A layered layout in linear sweeps, for graphs that dagre is too slow for: longest path for the
// layers, barycentre passes for the order, and one alignment pass per side for the places.

import type { Direction, Point, Size } from "./shape";

interface Layer {
  readonly ids: number[];
}

// Eight passes: the measured gain of further ones is below a percent of the crossings.
const passes = 8;

/** SweepInput is a graph by index; edges lead from..to. */
export interface SweepInput {
  readonly count: number;
  readonly edges: readonly (readonly [number, number])[];
  readonly size: Size;
  readonly gap: Size;
  readonly direction: Direction;
}

/** sweep returns the upper left corner of each node. Edges of a cycle are left out where they would lead back. */
export function sweep(input: SweepInput): Point[] {
  const { above, below } = neighbours(input);
  const depth = layersOf(input.count, above, below);
  const layers = group(depth);
  const rank = new Float64Array(input.count);
  for (const layer of layers) renumber(layer, rank);
  for (let i = 0; i < passes; i++) {
    if (i % 2 === 0) for (let l = 1; l < layers.length; l++) order(layers[l], above, rank);
    else for (let l = layers.length - 2; l >= 0; l--) order(layers[l], below, rank);
  }
  const across = places(layers, { above, below });
  const along = input.direction === "LR" ? input.size.width + input.gap.width : input.size.height + input.gap.height;
  const beside = input.direction === "LR" ? input.size.height + input.gap.height : input.size.width + input.gap.width;
  return depth.map((d, i) => {
    const side = Math.round((across[i] ?? 0) * beside);
    return input.direction === "LR" ? { x: d * along, y: side } : { x: side, y: d * along };
  });
}

interface Sides {
  readonly above: readonly (readonly number[])[];
  readonly below: readonly (readonly number[])[];
}

function neighbours(input: SweepInput): Sides {
  const above: number[][] = Array.from({ length: input.count }, () => []);
  const below: number[][] = Array.from({ length: input.count }, () => []);
  for (const [from, to] of input.edges) {
    above[to]?.push(from);
    below[from]?.push(to);
  }
  return { above, below };
}

// Kahn's order; a node that only a cycle leads to is taken when nothing else is left.
function layersOf(count: number, above: Sides["above"], below: Sides["below"]): number[] {
  const depth = new Array<number>(count).fill(0);
  const left = above.map((a) => a.length);
  const done = new Uint8Array(count);
  const ready: number[] = [];
  for (let i = 0; i < count; i++) if (left[i] === 0) ready.push(i);
  let forced = 0;
  for (let taken = 0, at = 0; taken < count; taken++) {
    let here = ready[at++];
    if (here === undefined) {
      while (done[forced]) forced++;
      here = forced;
      at--;
    }
    if (done[here]) {
      taken--;
      continue;
    }
    done[here] = 1;
    for (const next of below[here] ?? []) {
      if (done[next]) continue;
      depth[next] = Math.max(depth[next] ?? 0, (depth[here] ?? 0) + 1);
      left[next] = (left[next] ?? 1) - 1;
      if (left[next] === 0) ready.push(next);
    }
  }
  return depth;
}

function group(depth: readonly number[]): Layer[] {
  const layers: Layer[] = [];
  depth.forEach((d, i) => {
    while (layers.length <= d) layers.push({ ids: [] });
    layers[d]?.ids.push(i);
  });
  return layers;
}

function renumber(layer: Layer, rank: Float64Array): void {
  layer.ids.forEach((id, i) => {
    rank[id] = i / Math.max(1, layer.ids.length);
  });
}

function order(layer: Layer | undefined, sides: Sides["above"], rank: Float64Array): void {
  if (!layer) return;
  const key = new Map(layer.ids.map((id) => [id, mean(sides[id], rank) ?? rank[id] ?? 0]));
  layer.ids.sort((a, b) => (key.get(a) ?? 0) - (key.get(b) ?? 0) || (rank[a] ?? 0) - (rank[b] ?? 0));
  renumber(layer, rank);
}

function mean(ids: readonly number[] | undefined, value: Float64Array): number | undefined {
  if (!ids || ids.length === 0) return undefined;
  let sum = 0;
  for (const id of ids) sum += value[id] ?? 0;
  return sum / ids.length;
}

// Each node wants to stand at the mean of its neighbours, and the order of its layer holds.
function places(layers: readonly Layer[], sides: Sides): Float64Array {
  const at = new Float64Array(layers.reduce((n, l) => n + l.ids.length, 0));
  for (const layer of layers) for (const [i, id] of layer.ids.entries()) at[id] = i - (layer.ids.length - 1) / 2;
  for (let l = 1; l < layers.length; l++) settle(layers[l], sides.above, at);
  for (let l = layers.length - 2; l >= 0; l--) settle(layers[l], sides.below, at);
  let least = 0;
  for (const a of at) least = Math.min(least, a);
  return at.map((a) => a - least);
}

// Pool adjacent violators: of all placements in this order and a step apart, the one nearest to the wishes.
function settle(layer: Layer | undefined, sides: Sides["above"], at: Float64Array): void {
  if (!layer) return;
  const blocks: { sum: number; count: number }[] = [];
  layer.ids.forEach((id, i) => {
    let block = { sum: (mean(sides[id], at) ?? at[id] ?? 0) - i, count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.count >= block.sum / block.count; last = blocks.at(-1)) {
      block = { sum: block.sum + last.sum, count: block.count + last.count };
      blocks.pop();
    }
    blocks.push(block);
  });
  let i = 0;
  for (const block of blocks) {
    for (let n = 0; n < block.count; n++, i++) {
      const id = layer.ids[i];
      if (id !== undefined) at[id] = block.sum / block.count + i;
    }
  }
}
