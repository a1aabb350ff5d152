// The workflow as nodes and edges, and the questions asked while an edge is drawn.

/** GraphTask is what a graph needs of a task: any reading of a workflow, or a run's tasks, can give it. */
export interface GraphTask {
  readonly name: string;
  readonly needs: readonly string[];
  /** finally says that it comes after all others, whatever it needs. */
  readonly finally?: boolean;
}

/** Edge leads from the task that is done first to the one that needs it. */
export interface Edge {
  readonly id: string;
  readonly from: string;
  readonly to: string;
}

/** Graph is nodes in the order of the text, edges between known tasks, and needs that name no task. */
export interface Graph {
  readonly nodes: readonly string[];
  readonly edges: readonly Edge[];
  readonly dangling: readonly Edge[];
}

/** edgeId names an edge; a name can hold no ">", so two edges never share it. */
export function edgeId(from: string, to: string): string {
  return `${from}>${to}`;
}

/** graphOf turns tasks into a graph. Of two tasks of one name the first is drawn; repeated needs are one edge. */
export function graphOf(tasks: readonly GraphTask[]): Graph {
  const nodes = new Set<string>();
  for (const t of tasks) if (t.name !== "") nodes.add(t.name);
  const edges = new Map<string, Edge>();
  const dangling: Edge[] = [];
  for (const t of tasks) {
    if (t.name === "") continue;
    for (const from of t.needs) {
      const edge = { id: edgeId(from, t.name), from, to: t.name };
      if (nodes.has(from)) edges.set(edge.id, edge);
      else dangling.push(edge);
    }
  }
  return { nodes: [...nodes], edges: [...edges.values()], dangling };
}

/** below maps each task to those that need it, in the order of the text. */
export function below(tasks: readonly GraphTask[]): Map<string, string[]> {
  const out = new Map<string, string[]>();
  for (const t of tasks) {
    for (const need of t.needs) {
      const list = out.get(need);
      if (list) list.push(t.name);
      else out.set(need, [t.name]);
    }
  }
  return out;
}

/** findPath returns a shortest way along edges, both ends included, or undefined. */
export function findPath(tasks: readonly GraphTask[], from: string, to: string): string[] | undefined {
  const next = below(tasks);
  const came = new Map<string, string>();
  const queue = [from];
  const seen = new Set(queue);
  for (let i = 0; i < queue.length; i++) {
    const here = queue[i];
    if (here === undefined) break;
    if (here === to) return trace(came, from, to);
    for (const name of next.get(here) ?? []) {
      if (seen.has(name)) continue;
      seen.add(name);
      came.set(name, here);
      queue.push(name);
    }
  }
  return undefined;
}

function trace(came: ReadonlyMap<string, string>, from: string, to: string): string[] {
  const path = [to];
  for (let at = to; at !== from; ) {
    const before = came.get(at);
    if (before === undefined) break;
    path.push(before);
    at = before;
  }
  return path.reverse();
}

/** reachable returns all tasks below (or above) one, itself included: those that an edge from below must not reach. */
export function reachable(tasks: readonly GraphTask[], from: string, way: "below" | "above"): Set<string> {
  const next = way === "below" ? below(tasks) : new Map(tasks.map((t) => [t.name, t.needs]));
  const seen = new Set([from]);
  for (const name of seen) for (const n of next.get(name) ?? []) seen.add(n);
  return seen;
}

/** Illegal says why a target cannot take an edge. */
export type Illegal = "self" | "duplicate" | "cycle";

/** illegalTargets tells for a drag from one task which targets must dim, and why. */
export function illegalTargets(tasks: readonly GraphTask[], from: string): Map<string, Illegal> {
  const out = new Map<string, Illegal>();
  for (const name of reachable(tasks, from, "above")) out.set(name, "cycle");
  for (const t of tasks) if (t.needs.includes(from)) out.set(t.name, "duplicate");
  out.set(from, "self");
  return out;
}

/** illegalSources tells the same for the other end: which tasks an edge to this one cannot begin at. */
export function illegalSources(tasks: readonly GraphTask[], to: string): Map<string, Illegal> {
  const out = new Map<string, Illegal>();
  for (const name of reachable(tasks, to, "below")) out.set(name, "cycle");
  for (const name of tasks.find((t) => t.name === to)?.needs ?? []) out.set(name, "duplicate");
  out.set(to, "self");
  return out;
}

/** findCycle returns the tasks of one cycle in order, its first again at the end, or undefined. */
export function findCycle(tasks: readonly GraphTask[]): string[] | undefined {
  const names = new Set(tasks.map((t) => t.name));
  const left = new Map(tasks.map((t) => [t.name, t.needs.filter((n) => names.has(n)).length]));
  const next = below(tasks);
  const ready = [...left].filter(([, n]) => n === 0).map(([name]) => name);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    left.delete(name);
    for (const n of next.get(name) ?? []) {
      const count = (left.get(n) ?? 0) - 1;
      if (left.has(n)) left.set(n, count);
      if (count === 0) ready.push(n);
    }
  }
  const needs = new Map(tasks.map((t) => [t.name, t.needs]));
  const walk: string[] = [];
  let at = left.keys().next().value;
  while (at !== undefined && !walk.includes(at)) {
    walk.push(at);
    at = needs.get(at)?.find((n) => left.has(n));
  }
  return at === undefined ? undefined : [...walk.slice(walk.indexOf(at)), at].reverse();
}
