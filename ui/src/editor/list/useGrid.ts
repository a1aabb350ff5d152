import { type KeyboardEvent, useState } from "react";
import type { Task } from "../../domain/document/read";
import type { Document } from "../document";
import { type Column, canEdit, columns } from "./cells";
import { rangeOf } from "./rows";

/** Cell is a place: a row of what is shown, and a column. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

/** rowsPerPage is how far Page Down goes. */
const rowsPerPage = 20;

/** moved tells where a key leads from a cell; undefined is a key that leads nowhere. */
export function moved(key: string, ctrl: boolean, { row, column }: Cell, last: number): Cell | undefined {
  switch (key) {
    case "ArrowUp":
      return { row: row - 1, column };
    case "ArrowDown":
      return { row: row + 1, column };
    case "ArrowLeft":
      return { row, column: column - 1 };
    case "ArrowRight":
      return { row, column: column + 1 };
    case "PageUp":
      return { row: row - rowsPerPage, column };
    case "PageDown":
      return { row: row + rowsPerPage, column };
    case "Home":
      return ctrl ? { row: 0, column } : { row, column: 0 };
    case "End":
      return ctrl ? { row: last, column } : { row, column: columns.length - 1 };
    default:
      return undefined;
  }
}

interface Given {
  readonly doc: Document;
  readonly rows: readonly Task[];
  readonly chosen: readonly string[];
  /** begin is the row to begin at, below 0 for the first. */
  readonly begin: number;
  /** act does what a key asks for with a row. */
  readonly act: (what: "remove" | "add" | "up" | "down", row: number) => void;
}

/** useGrid has the active cell, the one that is edited, and the keys. Only the grid itself is a tab stop. */
export function useGrid({ doc, rows, chosen, begin, act }: Given) {
  const [wanted, setActive] = useState<Cell>({ row: Math.max(0, begin), column: 1 });
  const [anchor, setAnchor] = useState(Math.max(0, begin));
  const [editing, setEditing] = useState(false);
  const last = Math.max(0, rows.length - 1);
  const active: Cell = { row: Math.min(wanted.row, last), column: wanted.column };
  const column: Column = columns[active.column] ?? "name";

  const go = (row: number, col = active.column) => {
    const next = { row: Math.max(0, Math.min(last, row)), column: Math.max(0, Math.min(columns.length - 1, col)) };
    setActive(next);
    return next;
  };
  const choose = (row: number, how: "one" | "more" | "range") => {
    const name = rows[row]?.name;
    if (name === undefined) return;
    if (how === "range") doc.select(rangeOf(rows, anchor, row));
    else {
      setAnchor(row);
      if (how === "one") doc.select([name]);
      else doc.select(chosen.includes(name) ? chosen.filter((n) => n !== name) : [...chosen, name]);
    }
  };
  const edit = (cell: Cell = active) => {
    const name = columns[cell.column];
    if (name === undefined || !canEdit(name) || !rows[cell.row]) return;
    setActive(cell);
    setEditing(true);
  };
  // Tab goes to the next cell that can be edited, also over the end of a row.
  const step = (by: 1 | -1) => {
    let at = active.row * columns.length + active.column;
    for (let n = 0; n < columns.length; n++) {
      at += by;
      const cell = { row: Math.floor(at / columns.length), column: ((at % columns.length) + columns.length) % columns.length };
      const name = columns[cell.column];
      if (cell.row < 0 || cell.row > last || name === undefined) break;
      if (canEdit(name)) {
        setActive(cell);
        return true;
      }
    }
    setEditing(false);
    return false;
  };

  const command = (event: KeyboardEvent): boolean => {
    const { key } = event;
    if (event.altKey && (key === "ArrowUp" || key === "ArrowDown")) act(key === "ArrowUp" ? "up" : "down", active.row);
    else if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "a") doc.select(rows.map((r) => r.name));
    else if (key === "Enter" || key === "F2") edit();
    else if (key === " ") choose(active.row, event.shiftKey ? "range" : "more");
    else if (key === "Delete") act("remove", active.row);
    else if (key === "Insert") act("add", active.row);
    else if (key === "Escape" && chosen.length > 0) doc.select([]);
    else return false;
    return true;
  };
  const press = (event: KeyboardEvent) => {
    if (editing || event.target !== event.currentTarget) return;
    if (command(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const to = event.altKey || event.metaKey ? undefined : moved(event.key, event.ctrlKey, active, last);
    if (!to) return;
    event.preventDefault();
    const next = go(to.row, to.column);
    if (event.shiftKey && next.row !== active.row) doc.select(rangeOf(rows, anchor, next.row));
    else if (!event.shiftKey) setAnchor(next.row);
  };
  return { active, column, editing, edit, leave: () => setEditing(false), step, go, choose, press };
}
