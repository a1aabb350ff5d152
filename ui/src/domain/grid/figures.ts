import { none } from "./code";
import type { Column, Grid } from "./grid";

// What a row of the grid says beside its cells, worked out of the columns that are here.

export interface Figures {
  p50: number | undefined; // ms
  p95: number | undefined;
  failed: number; // instances in which the task failed or was killed
  ran: number; // instances in which it has come to an end of its own
}

const bad = new Set(["failed", "killed"]);
const own = new Set(["success", "forced_success", ...bad]);

export function figures(grid: Grid, columns: readonly Column[], row: number): Figures {
  const times: number[] = [];
  let [failed, ran] = [0, 0];
  for (const c of columns) {
    const letter = c.cells[row] ?? none;
    const state = grid.words[letter] ?? "";
    if (own.has(state)) ran++;
    if (bad.has(state)) failed++;
    const ms = c.took[row] ?? Number.NaN;
    if (!Number.isNaN(ms)) times.push(ms);
  }
  return { p50: percentile(times, 50), p95: percentile(times, 95), failed, ran };
}

/** percentile is the value that p of 100 do not pass (nearest rank); undefined of nothing. */
export function percentile(values: readonly number[], p: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((p / 100) * sorted.length) - 1)];
}

/** turns are the columns at which another version begins, but the first. */
export function turns(columns: readonly Column[]): number[] {
  return columns.flatMap((c, i) => (i > 0 && columns[i - 1]?.version !== c.version ? [i] : []));
}
