import type { Sentence } from "../i18n";

// The columns of lists of instances. State, name and duration always stand; of the others a person hides some, and a narrow
// window the last ones.

export const columns = ["id", "reason", "created", "done", "trigger", "project", "fire", "version", "by"] as const;
export type Column = (typeof columns)[number];
type Any = Column | "pick" | "state" | "name" | "took";

export const columnWords: Record<Column, Sentence> = {
  id: "runs.id",
  reason: "runs.reason",
  created: "runs.created",
  done: "runs.done",
  trigger: "runs.trigger",
  project: "runs.project",
  fire: "runs.fire",
  version: "runs.version",
  by: "runs.by",
};

/** order is how columns stand beside one another, with the least width of each and its share of what is left. */
const order: [name: Any, least: number, share: number][] = [
  ["pick", 26, 0],
  ["state", 122, 0],
  ["name", 116, 1.2],
  ["id", 76, 0],
  ["project", 72, 0.7],
  ["fire", 108, 0],
  ["created", 108, 0],
  ["took", 84, 0],
  ["trigger", 84, 0],
  ["done", 72, 0],
  ["version", 52, 0],
  ["reason", 130, 1.6],
  ["by", 60, 0.6],
];
const gap = 12;

/** fitting are the columns that a list of some width has room for, the first of those wanted before the last. */
export function fitting(wanted: readonly Column[], picking: boolean, width: number): ReadonlySet<Any> {
  const shown = new Set<Any>(picking ? ["pick", "state", "name", "took"] : ["state", "name", "took"]);
  const least = (name: Any) => (order.find(([n]) => n === name)?.[1] ?? 0) + gap;
  let used = [...shown].reduce((sum, name) => sum + least(name), 0);
  for (const name of wanted) {
    used += least(name);
    if (used > width) break;
    shown.add(name);
  }
  return shown;
}

/** templateOf is the grid of a row with some columns. */
export function templateOf(shown: ReadonlySet<Any>): string {
  return order
    .filter(([name]) => shown.has(name))
    .map(([, least, share]) => (share === 0 ? `${least}px` : `minmax(${least}px, ${share}fr)`))
    .join(" ");
}
