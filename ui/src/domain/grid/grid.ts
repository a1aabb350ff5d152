import type { components } from "../../api/schema";
import { millis } from "../format";
import { durations, expand, none, twos } from "./code";

// A grid as the page has it: rows are tasks, columns are instances. Answers of the server are put together in it: older
// pages, and columns that were read anew because the stream said that they have changed.

export type Answer = components["schemas"]["Grid"];

export interface Column {
  id: string;
  state: string;
  trigger: string;
  version: number;
  seq: number;
  scheduled: number | undefined;
  created: number;
  started: number | undefined;
  finished: number | undefined;
  cells: string; // a letter per row
  took: Float64Array; // ms per row, NaN for none
  tries: Map<number, number>; // by row, where there was more than one
}

export interface Grid {
  version: number;
  words: Record<string, string>; // the state of a letter
  rows: string[];
  gone: number; // the first row that the newest version does not have
  columns: Column[]; // the newest last
  next: string | undefined; // what is older
}

/** cellState is the state of a task in an instance; undefined where it has no such task. */
export function cellState(grid: Grid, column: Column, row: number): string | undefined {
  const letter = column.cells[row] ?? none;
  return letter === none ? undefined : (grid.words[letter] ?? letter);
}

/** How an answer is joined to what there is: the newest columns, older ones, or columns read anew. */
export type Kind = "newest" | "older" | "anew";

/** joined puts an answer into a grid; what does not fit together any more begins anew. */
export function joined(before: Grid | undefined, answer: Answer, kind: Kind): Grid {
  const known = new Set(before?.columns.map((c) => c.id));
  const apart = kind === "newest" && before !== undefined && before.columns.length > 0 && !answer.instances.some((i) => known.has(i.id));
  if (before === undefined || before.version !== answer.version || apart) return fresh(answer);
  const rows = [...before.rows];
  const at = new Map(rows.map((name, i) => [name, i]));
  const places = answer.tasks.map((name) => {
    const place = at.get(name) ?? rows.push(name) - 1;
    at.set(name, place);
    return place;
  });
  const oldest = before.columns[0];
  const byId = new Map(before.columns.map((c) => [c.id, c]));
  for (const column of columnsOf(answer, places, rows.length)) {
    const old = byId.get(column.id);
    // What comes late says less than what is known; and what is older than all that is shown would leave a gap.
    if (old && old.seq > column.seq) continue;
    if (kind === "anew" && !old && oldest && before.next !== undefined && column.created < oldest.created) continue;
    byId.set(column.id, column);
  }
  const columns = [...byId.values()].map((c) => (c.cells.length < rows.length ? { ...c, cells: c.cells.padEnd(rows.length, none) } : c));
  columns.sort((a, b) => a.created - b.created || Number(BigInt(a.id) - BigInt(b.id)));
  return { ...before, rows, columns, next: kind === "older" ? answer.next_cursor : before.next };
}

function fresh(answer: Answer): Grid {
  const places = answer.tasks.map((_, i) => i);
  return {
    version: answer.version,
    words: answer.states,
    rows: answer.tasks,
    gone: answer.gone,
    columns: columnsOf(answer, places, answer.tasks.length),
    next: answer.next_cursor,
  };
}

/** columnsOf reads an answer's columns; places are where its rows stand in the grid. */
function columnsOf(answer: Answer, places: number[], rows: number): Column[] {
  const same = places.every((place, i) => place === i);
  return answer.instances.map((i) => {
    const told = expand(i.cells, answer.tasks.length);
    const ms = durations(i.took, i.far, answer.median_ms);
    let cells = told.padEnd(rows, none);
    let took = ms;
    if (!same) {
      const letters = new Array<string>(rows).fill(none);
      took = new Float64Array(rows).fill(Number.NaN);
      for (const [from, to] of places.entries()) {
        letters[to] = told[from] ?? none;
        took[to] = ms[from] ?? Number.NaN;
      }
      cells = letters.join("");
    }
    return {
      id: i.id,
      state: i.state,
      trigger: i.trigger,
      version: i.version,
      seq: i.seq,
      scheduled: millis(i.schedule_time),
      created: millis(i.created_at) ?? 0,
      started: millis(i.started_at),
      finished: millis(i.finished_at),
      cells,
      took,
      tries: new Map(twos(i.attempts).map(([row, n]) => [places[row] ?? row, n])),
    };
  });
}

/** lasted is how long an instance took, or has taken by now. */
export function lasted(column: Column, now: number): number | undefined {
  return column.started === undefined ? undefined : Math.max(0, (column.finished ?? now) - column.started);
}
