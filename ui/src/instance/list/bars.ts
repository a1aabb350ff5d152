import type { Histogram } from "../../api/instances";
import { instanceStates } from "../../domain/states";

// The histogram's buckets as bars, and a brush over them as a window of time.

export interface Part {
  state: string;
  from: number; // of the height, 0 at the bottom
  to: number;
}

export interface Column {
  at: number;
  total: number;
  parts: Part[];
}

export interface Bars {
  from: number;
  to: number;
  width: number;
  most: number;
  columns: Column[];
}

const rank = new Map<string, number>(instanceStates.map((s, i) => [s, i]));

/** bars stacks each bucket's states, the worst at the bottom, and scales by the highest. */
export function bars(h: Histogram): Bars {
  const width = Math.max(1, h.width_ms);
  const columns = h.buckets.map((b) => {
    const states = Object.entries(b.states).sort(([a], [z]) => (rank.get(a) ?? 99) - (rank.get(z) ?? 99));
    let sum = 0;
    const parts = states.map(([state, n]) => {
      const from = sum;
      sum += n;
      return { state, from, to: sum };
    });
    return { at: Date.parse(b.at ?? ""), total: sum, parts };
  });
  const first = columns[0]?.at ?? 0;
  const from = h.from === undefined ? first : Date.parse(h.from);
  const to = h.to === undefined ? first + width : Date.parse(h.to);
  // Whole buckets: the first and the last stand at their full width.
  const low = Math.floor(from / width) * width;
  return {
    from: low,
    to: Math.max(low + width, Math.ceil(to / width) * width),
    width,
    most: Math.max(1, ...columns.map((c) => c.total)),
    columns,
  };
}

/** brushed is the window between two places (0 to 1) of the chart, in whole buckets. */
export function brushed(b: Bars, one: number, other: number): { from: string; to: string } {
  const span = b.to - b.from;
  const at = (x: number) => b.from + Math.min(1, Math.max(0, x)) * span;
  const low = b.from + Math.floor((at(Math.min(one, other)) - b.from) / b.width) * b.width;
  const high = b.from + Math.ceil((at(Math.max(one, other)) - b.from) / b.width) * b.width;
  return { from: new Date(low).toISOString(), to: new Date(Math.max(high, low + b.width)).toISOString() };
}
