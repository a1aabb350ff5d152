import type { Gap } from "./api";

// Lines of an output and rows of the panel. They are the same until the worker has dropped
// a part: that is one row, whatever it held, and the lines after it keep their numbers.

export interface Shape {
  newlines: number;
  open: boolean; // the last line has no end yet
  gap: Gap | undefined;
}

export const nothing: Shape = { newlines: 0, open: false, gap: undefined };

/** lineCount is the number of the last line. */
export function lineCount(s: Shape): number {
  return s.newlines + (s.open ? 1 : 0);
}

export function rowCount(s: Shape): number {
  if (!s.gap) return lineCount(s);
  return s.gap.lines_from + 2 + Math.max(0, lineCount(s) - s.gap.lines_to);
}

/** lineOf is the line in a row; undefined where the row stands for what was dropped. */
export function lineOf(s: Shape, row: number): number | undefined {
  if (!s.gap || row <= s.gap.lines_from) return row + 1;
  const after = row - s.gap.lines_from - 2;
  return after < 0 ? undefined : s.gap.lines_to + 1 + after;
}

/** rowOf is the row that shows a line, or stands for it. */
export function rowOf(s: Shape, line: number): number {
  const last = Math.max(0, rowCount(s) - 1);
  if (!s.gap || line <= s.gap.lines_from + 1) return Math.min(last, Math.max(0, line - 1));
  if (line <= s.gap.lines_to) return s.gap.lines_from + 1;
  return Math.min(last, s.gap.lines_from + 2 + line - s.gap.lines_to - 1);
}

/** maxRows is how many rows are in the document at a time. */
export const maxRows = 240;
/** maxHeight keeps the scrolled area below what every browser can address. */
const maxHeight = 8_000_000;

/** space is the height that stands for a row which is not in the document. */
export function space(rows: number, rowHeight: number): number {
  return rows === 0 ? rowHeight : Math.min(rowHeight, maxHeight / rows);
}

export interface Block {
  first: number;
  count: number;
}

/** blockAround gives the rows to draw where one of them is to be seen. */
export function blockAround(rows: number, row: number): Block {
  const count = Math.min(rows, maxRows);
  const first = Math.max(0, Math.min(rows - count, row - Math.floor(count / 2)));
  return { first, count };
}

/** rowAt is the row that a scroll position outside of the block means. */
export function rowAt(rows: number, block: Block, above: number, top: number, height: number, rowHeight: number): number {
  const k = space(rows, rowHeight);
  if (top < above) return Math.max(0, Math.floor(top / k));
  const after = block.first + block.count;
  return Math.min(Math.max(0, rows - 1), after + Math.floor((top - above - height) / k));
}

/** parseLines reads the address's line or range of lines, lowest first. */
export function parseLines(text: string | undefined): { from: number; to: number } | undefined {
  const found = /^([1-9]\d*)(?:-([1-9]\d*))?$/.exec(text ?? "");
  if (!found) return undefined;
  const from = Number(found[1]);
  const to = found[2] ? Number(found[2]) : from;
  return { from: Math.min(from, to), to: Math.max(from, to) };
}

export function linesText(from: number, to: number): string {
  const [low, high] = from < to ? [from, to] : [to, from];
  return low === high ? String(low) : `${low}-${high}`;
}
