// How full the cells of a heat map are.

/** levels is how many sizes a cell has beside nothing at all. */
export const levels = 5;

/** levelOf is how full a cell is, of levels: 0 has nothing, and the fullest has the last. */
export function levelOf(n: number, peak: number): number {
  return n <= 0 || peak <= 0 ? 0 : Math.min(levels, Math.ceil((levels * n) / peak));
}

/** Spot is a cell. */
export interface Spot {
  row: number;
  column: number;
}

/** fullest lists the cells that have something, the fullest first. */
export function fullest(rows: readonly (readonly number[])[]): (Spot & { n: number })[] {
  return rows
    .flatMap((cells, row) => cells.map((n, column) => ({ row, column, n })))
    .filter(({ n }) => n > 0)
    .sort((a, b) => b.n - a.n || a.row - b.row || a.column - b.column);
}

/** step is where a key leads within a map of so many rows and columns; undefined is nowhere. */
export function step(key: string, at: Spot, rows: number, columns: number): Spot | undefined {
  const to = {
    ArrowLeft: { row: at.row, column: at.column - 1 },
    ArrowRight: { row: at.row, column: at.column + 1 },
    ArrowUp: { row: at.row - 1, column: at.column },
    ArrowDown: { row: at.row + 1, column: at.column },
    Home: { row: at.row, column: 0 },
    End: { row: at.row, column: columns - 1 },
  }[key];
  if (!to) return undefined;
  return { row: Math.max(0, Math.min(rows - 1, to.row)), column: Math.max(0, Math.min(columns - 1, to.column)) };
}

/** short is a count in little room: 940, 12k, 3.4M. */
export function short(n: number): string {
  if (n < 1000) return String(n);
  const [by, unit] = n < 1_000_000 ? [1000, "k"] : [1_000_000, "M"];
  const parts = n / by;
  return `${parts < 10 ? Math.floor(parts * 10) / 10 : Math.floor(parts)}${unit}`;
}
