import { none } from "./code";
import type { Column, Grid } from "./grid";

// Which cells are chosen, and how the cursor walks. A cell is named by its instance and its task, so that a choice
// stands while columns come on both sides.

/** Spot is a place in the grid as it is shown: -1 is the row of instances, or the column of names. */
export interface Spot {
  row: number;
  column: number;
}

export type Choice = ReadonlySet<string>;
export const nothing: Choice = new Set();

export const cellKey = (id: string, task: string): string => `${id} ${task}`;

export function parted(key: string): { id: string; task: string } {
  const at = key.indexOf(" ");
  return { id: key.slice(0, at), task: key.slice(at + 1) };
}

/** Shown is what of the grid is in view: its rows by their index in the grid, and its columns. */
export interface Shown {
  grid: Grid;
  rows: readonly number[];
  columns: readonly Column[];
}

/** keyAt names a cell; undefined where there is none, so that a blank can't be chosen. */
export function keyAt({ grid, rows, columns }: Shown, spot: Spot): string | undefined {
  const row = rows[spot.row];
  const column = columns[spot.column];
  if (row === undefined || column === undefined || (column.cells[row] ?? none) === none) return undefined;
  return cellKey(column.id, grid.rows[row] ?? "");
}

/** rectangle chooses all cells between two corners, beside those of before. */
export function rectangle(shown: Shown, from: Spot, to: Spot, before: Choice = nothing): Choice {
  const out = new Set(before);
  for (let row = Math.max(0, Math.min(from.row, to.row)); row <= Math.max(from.row, to.row); row++) {
    for (let column = Math.max(0, Math.min(from.column, to.column)); column <= Math.max(from.column, to.column); column++) {
      const key = keyAt(shown, { row, column });
      if (key !== undefined) out.add(key);
    }
  }
  return out;
}

export function toggled(choice: Choice, key: string): Choice {
  const out = new Set(choice);
  if (!out.delete(key)) out.add(key);
  return out;
}

/** maxWritten is how many characters of an address a choice may take: browsers and proxies take some thousands in all. */
const maxWritten = 1500;

/** written is a choice as an address holds it, 7:extract,load;8:load, or undefined where it is empty or too long for one. No name has these signs. */
export function written(choice: Choice): string | undefined {
  const by = new Map<string, string[]>();
  let length = 0;
  for (const key of choice) {
    const { id, task } = parted(key);
    const tasks = by.get(id) ?? [];
    tasks.push(task);
    by.set(id, tasks);
    length += task.length + 1;
    if (length > maxWritten) return undefined;
  }
  const text = [...by].map(([id, tasks]) => `${id}:${tasks.join(",")}`).join(";");
  return text === "" || text.length > maxWritten ? undefined : text;
}

/** chosenIn reads a choice out of an address; what is none of it is left out. */
export function chosenIn(text: string | undefined): Choice {
  const out = new Set<string>();
  for (const part of (text ?? "").slice(0, maxWritten).split(";")) {
    const [, id, tasks] = /^([1-9]\d{0,18}):(.+)$/s.exec(part) ?? [];
    if (id !== undefined) for (const task of (tasks ?? "").split(",")) if (task !== "") out.add(cellKey(id, task));
  }
  return out;
}

/** Chosen is what is chosen of one instance, in the order of the rows. */
export interface Chosen {
  id: string;
  tasks: string[];
}

/** byInstance gathers a choice, the instances in the order of their columns. */
export function byInstance(grid: Grid, choice: Choice): Chosen[] {
  const rows = new Map(grid.rows.map((name, i) => [name, i]));
  const by = new Map<string, string[]>();
  for (const key of choice) {
    const { id, task } = parted(key);
    if (rows.has(task)) by.set(id, [...(by.get(id) ?? []), task]);
  }
  return grid.columns
    .filter((c) => by.has(c.id))
    .map((c) => ({ id: c.id, tasks: (by.get(c.id) ?? []).sort((a, b) => (rows.get(a) ?? 0) - (rows.get(b) ?? 0)) }));
}

/** page is how many rows Page Up and Page Down go. */
const page = 20;

/** walked is where a key leads, within the grid and its two heads; undefined for other keys. */
export function walked(at: Spot, key: string, whole: boolean, size: { rows: number; columns: number }): Spot | undefined {
  const to = target(at, key, whole, size);
  if (!to) return undefined;
  const within = (n: number, count: number) => Math.max(-1, Math.min(count - 1, n));
  const row = within(to.row, size.rows);
  const column = within(to.column, size.columns);
  // The corner of the two heads is nothing.
  return row === -1 && column === -1 ? at : { row, column };
}

function target(at: Spot, key: string, whole: boolean, size: { rows: number; columns: number }): Spot | undefined {
  switch (key) {
    case "ArrowUp":
      return { ...at, row: at.row - 1 };
    case "ArrowDown":
      return { ...at, row: at.row + 1 };
    case "ArrowLeft":
      return { ...at, column: at.column - 1 };
    case "ArrowRight":
      return { ...at, column: at.column + 1 };
    case "PageUp":
      return { ...at, row: Math.max(0, at.row - page) };
    case "PageDown":
      return { ...at, row: at.row + page };
    case "Home":
      return { row: whole ? 0 : at.row, column: 0 };
    case "End":
      return { row: whole ? size.rows - 1 : at.row, column: size.columns - 1 };
    default:
      return undefined;
  }
}
