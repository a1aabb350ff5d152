// The rows of the list: which tasks, in which order. The order of the view never changes the text.

import type { Task } from "../../domain/document/read";
import { below } from "../../domain/graph/model";

/** sorts are the orders of the list; "text" is that of the document. */
export const sorts = ["text", "name", "depth"] as const;
export type Sort = (typeof sorts)[number];

/** depthsOf tells how many tasks must be done in a row before each: those in a circle have none. */
export function depthsOf(tasks: readonly Task[]): Map<string, number> {
  const names = new Set(tasks.map((t) => t.name));
  const left = new Map(tasks.map((t) => [t.name, new Set(t.needs.filter((n) => names.has(n))).size]));
  const next = below(tasks);
  const depths = new Map<string, number>();
  let layer = [...left].filter(([, n]) => n === 0).map(([name]) => name);
  for (let depth = 0; layer.length > 0; depth++) {
    const then: string[] = [];
    for (const name of layer) {
      depths.set(name, depth);
      for (const below of new Set(next.get(name))) {
        const rest = (left.get(below) ?? 0) - 1;
        left.set(below, rest);
        if (rest === 0) then.push(below);
      }
    }
    layer = then;
  }
  return depths;
}

/** rowsOf filters and orders tasks. Every word of the filter must stand in the name, the type, the needs or the group. */
export function rowsOf(tasks: readonly Task[], filter: string, sort: Sort): readonly Task[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = words.length === 0 ? tasks : tasks.filter((t) => matches(t, words));
  if (sort === "name") {
    const order = new Intl.Collator(undefined, { numeric: true });
    return [...found].sort((a, b) => order.compare(a.name, b.name) || a.index - b.index);
  }
  if (sort === "depth") {
    const depths = depthsOf(tasks);
    const depth = (t: Task) => depths.get(t.name) ?? Number.POSITIVE_INFINITY;
    // Two circles are both at infinity, whose difference is no number.
    return [...found].sort((a, b) => (depth(a) === depth(b) ? a.index - b.index : depth(a) - depth(b)));
  }
  return found;
}

function matches(task: Task, words: readonly string[]): boolean {
  const group = task.fields.worker_group;
  const text = [task.name, task.type, ...task.needs, typeof group === "string" ? group : ""].join("\n").toLowerCase();
  return words.every((w) => text.includes(w));
}

/** rangeOf gives the names of the rows between two, both included. */
export function rangeOf(rows: readonly Task[], from: number, to: number): string[] {
  const [low, high] = from < to ? [from, to] : [to, from];
  return rows.slice(low, high + 1).map((t) => t.name);
}

/** namesIn reads a list of names as it is typed: a name holds no comma. */
export function namesIn(text: string): string[] {
  return [
    ...new Set(
      text
        .split(",")
        .map((n) => n.trim())
        .filter(Boolean),
    ),
  ];
}
