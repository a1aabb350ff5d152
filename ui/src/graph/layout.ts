import { layout as dagre, graphlib } from "@dagrejs/dagre";

// Where the nodes of a graph stand, left to right. Pure: the worker runs it, tests too.

export interface Shape {
  name: string;
  needs: string[];
}

export interface Place {
  x: number;
  y: number;
}

export const nodeWidth = 200;
export const nodeHeight = 44;
const gapX = 56;
const gapY = 20;

/** dagreMax is where dagre's half second begins: beyond it the sweep below takes over. */
export const dagreMax = 500;

export function place(tasks: Shape[]): Record<string, Place> {
  return tasks.length > dagreMax ? sweep(tasks) : byDagre(tasks);
}

export function byDagre(tasks: Shape[]): Record<string, Place> {
  const g = new graphlib.Graph();
  // Its default ranker, network-simplex, takes minutes where tight-tree takes a second.
  g.setGraph({ rankdir: "LR", ranker: "tight-tree", nodesep: gapY, ranksep: gapX });
  g.setDefaultEdgeLabel(() => ({}));
  for (const t of tasks) g.setNode(t.name, { width: nodeWidth, height: nodeHeight });
  for (const t of tasks) for (const need of t.needs) g.setEdge(need, t.name);
  dagre(g);
  const places: Record<string, Place> = {};
  for (const t of tasks) {
    const n = g.node(t.name);
    places[t.name] = { x: Math.round(n.x - nodeWidth / 2), y: Math.round(n.y - nodeHeight / 2) };
  }
  return places;
}

const passes = 8;

/** sweep puts each task one column after the last that it needs, and orders the columns by the middle of their neighbours. */
export function sweep(tasks: Shape[]): Record<string, Place> {
  const index = new Map(tasks.map((t, i) => [t.name, i]));
  const needs = tasks.map((t) => t.needs.flatMap((n) => index.get(n) ?? []));
  const followers: number[][] = tasks.map(() => []);
  needs.forEach((list, i) => {
    for (const n of list) followers[n]?.push(i);
  });
  const rank = ranks(needs, followers);
  const columns: number[][] = [];
  rank.forEach((r, i) => {
    columns[r] ??= [];
    columns[r].push(i);
  });
  const row = new Array<number>(tasks.length).fill(0);
  const number = () => {
    for (const column of columns) {
      for (const [at, i] of column.entries()) row[i] = at - (column.length - 1) / 2;
    }
  };
  number();
  for (let pass = 0; pass < passes; pass++) {
    const near = pass % 2 === 0 ? needs : followers;
    const middle = row.map((own, i) => mean(near[i] ?? [], row, own));
    for (const column of columns) column.sort((a, b) => (middle[a] ?? 0) - (middle[b] ?? 0) || a - b);
    number();
  }
  const places: Record<string, Place> = {};
  tasks.forEach((t, i) => {
    places[t.name] = { x: (rank[i] ?? 0) * (nodeWidth + gapX), y: Math.round((row[i] ?? 0) * (nodeHeight + gapY)) };
  });
  return places;
}

function mean(of: number[], row: number[], none: number): number {
  if (of.length === 0) return none;
  return of.reduce((sum, i) => sum + (row[i] ?? 0), 0) / of.length;
}

/** ranks is the longest way to each task; one on a cycle, which the server refuses, stays at 0. */
function ranks(needs: number[][], followers: number[][]): number[] {
  const rank = new Array<number>(needs.length).fill(0);
  const open = needs.map((n) => n.length);
  const ready = open.flatMap((n, i) => (n === 0 ? [i] : []));
  for (let at = 0; at < ready.length; at++) {
    const i = ready[at] ?? 0;
    for (const f of followers[i] ?? []) {
      rank[f] = Math.max(rank[f] ?? 0, (rank[i] ?? 0) + 1);
      open[f] = (open[f] ?? 0) - 1;
      if (open[f] === 0) ready.push(f);
    }
  }
  return rank;
}
