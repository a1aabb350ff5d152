import type { LogWindow, Output, Place } from "./api";

// Where two outputs part: both are read from their beginning, window by window, until a line differs.

export type ReadOf = (o: Output, at: Place, signal?: AbortSignal) => Promise<LogWindow>;

export interface Difference {
  line: number; // the first that differs, or how many are alike
  one: string | undefined; // undefined: this one has ended before it
  other: string | undefined;
  end: "differs" | "same" | "bound"; // bound: they are alike as far as was read
}

/** windowBytes is what is read at once of each, maxBytes what is read at all: a difference behind that is not looked for. */
const windowBytes = 256 << 10;
export const maxBytes = 8 << 20;

/** Numbers are what differs in any two logs: times, process ids, durations. */
const numbers = /\d+/g;

/** Lines gives an output line by line, reading ahead no more than a window. */
class Lines {
  private lines: string[] = [];
  private at = 0;
  private rest = "";
  private offset = 0;
  private over = false;
  bytes = 0;

  constructor(private readonly read: (at: Place) => Promise<LogWindow>) {}

  async next(): Promise<string | undefined> {
    while (this.at >= this.lines.length && !this.over) await this.more();
    return this.lines[this.at++];
  }

  private async more(): Promise<void> {
    const w = await this.read({ offset: this.offset, limit: windowBytes });
    this.bytes += w.next_offset - this.offset;
    // What a worker has dropped in the middle is skipped by the server's next offset.
    this.over = w.next_offset >= w.size || w.next_offset <= this.offset;
    this.offset = w.next_offset;
    this.lines = (this.rest + w.data).split("\n");
    this.at = 0;
    const last = this.lines.pop() ?? "";
    if (!this.over) this.rest = last;
    else if (last !== "") this.lines.push(last);
  }
}

/** firstDifference finds the first line in which two outputs differ; with loose, numbers count as alike. */
export async function firstDifference(read: ReadOf, one: Output, other: Output, loose: boolean, signal?: AbortSignal): Promise<Difference> {
  const a = new Lines((at) => read(one, at, signal));
  const b = new Lines((at) => read(other, at, signal));
  const alike = (x: string) => (loose ? x.replaceAll(numbers, "0") : x);
  for (let line = 1; ; line++) {
    const [x, y] = await Promise.all([a.next(), b.next()]);
    if (x === undefined && y === undefined) return { line: line - 1, one: x, other: y, end: "same" };
    if (x === undefined || y === undefined || alike(x) !== alike(y)) return { line, one: x, other: y, end: "differs" };
    if (Math.max(a.bytes, b.bytes) > maxBytes) return { line, one: x, other: y, end: "bound" };
  }
}
