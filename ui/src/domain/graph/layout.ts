// Where tasks stand on the canvas. Pure and without a clock, so that a worker can run it.

import { Graph as DagreGraph, layout as dagreLayout } from "@dagrejs/dagre";
import { boundsOf } from "./hit";
import { type Graph, type GraphTask, graphOf } from "./model";
import { type Direction, defaults, type Options, type Point, type Points, type Size, towards } from "./shape";
import { sweep } from "./sweep";

export { type Direction, defaults, type Options, type Point, type Points, type Size, towards };

/** layoutAll places all tasks anew: those that come last stand beyond all others. */
export function layoutAll(tasks: readonly GraphTask[], options: Partial<Options> = {}): Points {
  const all = { ...defaults, ...options };
  const last = tasks.filter((t) => t.finally);
  if (last.length === 0) return byEdges(tasks, all);
  const before = byEdges(
    tasks.filter((t) => !t.finally),
    all,
  );
  return { ...before, ...beyond(before, byEdges(last, all), all) };
}

// Two gaps along the way, and in the middle beside it.
function beyond(before: Points, last: Points, { size, gap, direction }: Options): Points {
  const [a, b] = [boundsOf(before, size), boundsOf(last, size)];
  const by =
    direction === "LR"
      ? { x: a.x + a.width + 2 * gap.width - b.x, y: Math.round(a.y + a.height / 2 - b.y - b.height / 2) }
      : { x: Math.round(a.x + a.width / 2 - b.x - b.width / 2), y: a.y + a.height + 2 * gap.height - b.y };
  return Object.fromEntries(Object.entries(last).map(([name, p]) => [name, { x: p.x + by.x, y: p.y + by.y }]));
}

function byEdges(tasks: readonly GraphTask[], all: Options): Points {
  const graph = graphOf(tasks);
  return graph.nodes.length > all.dagreMax ? bySweep(graph, all) : byDagre(graph, all);
}

function byDagre(graph: Graph, options: Options): Points {
  const g = new DagreGraph();
  const along = options.direction === "LR" ? options.gap.width : options.gap.height;
  const beside = options.direction === "LR" ? options.gap.height : options.gap.width;
  g.setGraph({ rankdir: options.direction, ranker: "tight-tree", ranksep: along, nodesep: beside, edgesep: 8, marginx: 0, marginy: 0 });
  g.setDefaultEdgeLabel(() => ({}));
  graph.nodes.forEach((_, i) => {
    g.setNode(String(i), { ...options.size });
  });
  const index = new Map(graph.nodes.map((name, i) => [name, String(i)]));
  for (const e of graph.edges) g.setEdge(index.get(e.from) ?? "", index.get(e.to) ?? "");
  dagreLayout(g);
  const points = graph.nodes.map((_, i) => {
    const node = g.node(String(i));
    return { x: Math.round((node.x ?? 0) - options.size.width / 2), y: Math.round((node.y ?? 0) - options.size.height / 2) };
  });
  return named(graph.nodes, points);
}

function bySweep(graph: Graph, options: Options): Points {
  const index = new Map(graph.nodes.map((name, i) => [name, i]));
  const edges = graph.edges.flatMap((e): [number, number][] => {
    const [from, to] = [index.get(e.from), index.get(e.to)];
    return from === undefined || to === undefined ? [] : [[from, to]];
  });
  const { size, gap, direction } = options;
  return named(graph.nodes, sweep({ count: graph.nodes.length, edges, size, gap, direction }));
}

function named(nodes: readonly string[], points: readonly Point[]): Points {
  return Object.fromEntries(nodes.map((name, i) => [name, points[i] ?? { x: 0, y: 0 }]));
}

/** arrange gives every task a place: the standing ones keep theirs, the new ones are put beside them. */
export function arrange(tasks: readonly GraphTask[], options: Partial<Options> = {}, standing: Points = {}): Points {
  const kept = Object.fromEntries(tasks.flatMap((t) => (Object.hasOwn(standing, t.name) ? [[t.name, standing[t.name]] as const] : [])));
  return { ...kept, ...placeNew(tasks, standing, options) } as Points; // hasOwn above: no place is undefined
}

/**
 * placeNew returns places for the tasks that have none, beside those they need or that need
 * them. Nothing that stands is moved; where nothing stands yet, all is laid out.
 */
export function placeNew(tasks: readonly GraphTask[], standing: Points, options: Partial<Options> = {}): Points {
  const all = { ...defaults, ...options };
  const known = new Map(tasks.flatMap((t) => (Object.hasOwn(standing, t.name) ? [[t.name, standing[t.name]] as const] : [])));
  const fresh = graphOf(tasks).nodes.filter((name) => !known.has(name));
  if (fresh.length === 0) return {};
  if (known.size === 0) return layoutAll(tasks, all);
  const inner = layoutAll(
    tasks.filter((t) => !known.has(t.name)),
    all,
  );
  const taken = new Taken(all);
  const placed = new Map<string, Point>();
  for (const [name, p] of known) {
    if (!p) continue;
    placed.set(name, p);
    taken.add(p);
  }
  const out: Record<string, Point> = {};
  for (const task of inOrder(tasks, fresh, inner)) {
    const point = taken.free(wish(task, tasks, placed, all));
    taken.add(point);
    placed.set(task.name, point);
    out[task.name] = point;
  }
  return out;
}

// Those whose parents stand come first; the layout among the new ones gives the order.
function inOrder(tasks: readonly GraphTask[], fresh: readonly string[], inner: Points): GraphTask[] {
  const set = new Set(fresh);
  const rank = (t: GraphTask) => (inner[t.name]?.x ?? 0) + (inner[t.name]?.y ?? 0) / 1e6;
  return tasks.filter((t) => set.delete(t.name)).sort((a, b) => rank(a) - rank(b));
}

function wish(task: GraphTask, tasks: readonly GraphTask[], placed: ReadonlyMap<string, Point>, options: Options): Point {
  const parents = task.needs.flatMap((n) => placed.get(n) ?? []);
  const children = parents.length > 0 ? [] : tasks.flatMap((t) => (t.needs.includes(task.name) ? (placed.get(t.name) ?? []) : []));
  const near = parents.length > 0 ? parents : children;
  const way = parents.length > 0 ? 1 : -1;
  const { size, gap, direction } = options;
  const step = direction === "LR" ? size.width + gap.width : size.height + gap.height;
  if (task.finally && placed.size > 0) return lastWish(task, tasks, placed, options);
  if (near.length === 0) {
    const all = [...placed.values()];
    const low = (pick: (p: Point) => number, by: (...n: number[]) => number) =>
      all.reduce((m, p) => by(m, pick(p)), pick(all[0] ?? { x: 0, y: 0 }));
    return direction === "LR"
      ? { x: low((p) => p.x, Math.min), y: low((p) => p.y, Math.max) + size.height + gap.height }
      : { x: low((p) => p.x, Math.max) + size.width + gap.width, y: low((p) => p.y, Math.min) };
  }
  const xs = near.map((p) => p.x);
  const ys = near.map((p) => p.y);
  const middle = (n: number[]) => Math.round(n.reduce((a, b) => a + b, 0) / n.length);
  return direction === "LR"
    ? { x: (way > 0 ? Math.max(...xs) : Math.min(...xs)) + way * step, y: middle(ys) }
    : { x: middle(xs), y: (way > 0 ? Math.max(...ys) : Math.min(...ys)) + way * step };
}

// Beyond all that do not come last, and after those that do and that it needs.
function lastWish(
  task: GraphTask,
  tasks: readonly GraphTask[],
  placed: ReadonlyMap<string, Point>,
  { size, gap, direction }: Options,
): Point {
  const last = new Set(tasks.flatMap((t) => (t.finally ? [t.name] : [])));
  const others = [...placed].filter(([name]) => !last.has(name) || task.needs.includes(name));
  const all = boundsOf(Object.fromEntries(others), size);
  const needed = boundsOf(Object.fromEntries(others.filter(([name]) => task.needs.includes(name))), size);
  const near = needed.width > 0 ? needed : all;
  return direction === "LR"
    ? { x: all.x + all.width + 2 * gap.width, y: Math.round(near.y + (near.height - size.height) / 2) }
    : { x: Math.round(near.x + (near.width - size.width) / 2), y: all.y + all.height + 2 * gap.height };
}

// Taken knows which places are free: by cells of a node with its gap, so a search looks at few neighbours.
class Taken {
  private readonly cells = new Map<string, Point[]>();
  private readonly wide: number;
  private readonly high: number;

  constructor(private readonly options: Options) {
    this.wide = options.size.width + options.gap.width;
    this.high = options.size.height + options.gap.height;
  }

  add(p: Point): void {
    const key = `${Math.floor(p.x / this.wide)} ${Math.floor(p.y / this.high)}`;
    const list = this.cells.get(key);
    if (list) list.push(p);
    else this.cells.set(key, [p]);
  }

  // Sideways only, alternating, what comes later in the text rather below: the layer, and so the way the edges run, stays.
  free(want: Point): Point {
    for (let n = 0; ; n++) {
      const off = (n % 2 === 0 ? -n / 2 : (n + 1) / 2) * (this.options.direction === "LR" ? this.high : this.wide);
      const p = this.options.direction === "LR" ? { x: want.x, y: want.y + off } : { x: want.x + off, y: want.y };
      if (!this.hits(p)) return p;
    }
  }

  private hits(p: Point): boolean {
    const [cx, cy] = [Math.floor(p.x / this.wide), Math.floor(p.y / this.high)];
    const { size } = this.options;
    for (let x = cx - 1; x <= cx + 1; x++) {
      for (let y = cy - 1; y <= cy + 1; y++) {
        for (const q of this.cells.get(`${x} ${y}`) ?? []) {
          if (Math.abs(q.x - p.x) < size.width && Math.abs(q.y - p.y) < size.height) return true;
        }
      }
    }
    return false;
  }
}
