import type { LogWindow } from "../api/client";
import { ApiError } from "../api/error";

// The part of an attempt's output that is in the page: a contiguous stretch that grows at
// both ends, cut into lines. Offsets are the server's bytes.

export interface Line {
  number: number; // relative to the first line ever read: stable while lines are put before it
  text: string;
}

export interface LogState {
  lines: Line[];
  start: number; // offset of the first byte
  next: number; // offset after the last byte
  size: number;
  eof: boolean;
  loading: boolean;
  error: unknown;
  begun: boolean;
}

export type Read = (offset: number, limit: number, signal: AbortSignal) => Promise<LogWindow>;

/** windowBytes is one read: about 3,000 lines. */
const windowBytes = 256 << 10;
/** maxLines bounds what the page keeps; beyond it the other end is let go. */
const maxLines = 50_000;
/** Between two questions whether there is more, while the attempt runs. */
const pollEvery = 700;

export class LogBuffer {
  private state: LogState = { lines: [], start: 0, next: 0, size: 0, eof: false, loading: true, error: undefined, begun: false };
  private readonly watchers = new Set<() => void>();
  private readonly stop = new AbortController();
  private partial = false; // the last line has no end yet
  private first = 0; // number of the first line
  private timer: ReturnType<typeof setTimeout> | undefined;
  private earlier = false;

  constructor(private readonly read: Read) {}

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  get = (): LogState => this.state;

  /** begin reads the end, and goes on as long as the attempt prints. */
  async begin(): Promise<void> {
    try {
      const w = await this.read(-windowBytes, windowBytes, this.stop.signal);
      this.take(w, true);
      this.again();
    } catch (error) {
      this.failed(error);
    }
  }

  /** end stops reading; the buffer is of no use after it. */
  end(): void {
    this.stop.abort();
    clearTimeout(this.timer);
  }

  /** before reads the stretch before what is there. */
  async before(): Promise<void> {
    if (this.earlier || this.state.start === 0 || this.state.lines.length >= maxLines) return;
    this.earlier = true;
    const from = Math.max(0, this.state.start - windowBytes);
    try {
      const w = await this.read(from, this.state.start - from, this.stop.signal);
      const cut = split(w.data, from > 0);
      const tail = cut.pop() ?? "";
      const lines = cut.map((text, i) => ({ number: this.first - cut.length + i, text }));
      this.first -= cut.length;
      const [head, ...rest] = this.state.lines;
      const joined = head ? [{ number: head.number, text: tail + head.text }, ...rest] : rest;
      this.set({ lines: [...lines, ...joined], start: from + (from > 0 ? skipped(w.data) : 0) });
    } catch (error) {
      this.failed(error);
    } finally {
      this.earlier = false;
    }
  }

  private again(): void {
    if (this.state.eof || this.stop.signal.aborted) return;
    this.timer = setTimeout(() => void this.more(), pollEvery);
  }

  private async more(): Promise<void> {
    try {
      const w = await this.read(this.state.next, windowBytes, this.stop.signal);
      this.take(w, false);
    } catch (error) {
      this.failed(error);
    }
    this.again();
  }

  private take(w: LogWindow, first: boolean): void {
    const cutHead = first && w.offset > 0;
    let lines = this.state.lines;
    if (w.data !== "") {
      const texts = split(w.data, cutHead);
      const last = this.partial ? lines.at(-1) : undefined;
      if (last) {
        // The line that had no end goes on.
        texts[0] = last.text + (texts[0] ?? "");
        lines = lines.slice(0, -1);
      }
      this.partial = texts.at(-1) !== "";
      if (!this.partial) texts.pop();
      const next = lines.length > 0 ? (lines.at(-1)?.number ?? 0) + 1 : (last?.number ?? this.first);
      lines = [...lines, ...texts.map((text, i) => ({ number: next + i, text }))];
    }
    this.told(w, lines, first, cutHead);
  }

  private told(w: LogWindow, lines: Line[], first: boolean, cutHead: boolean): void {
    const start = first ? w.offset + (cutHead ? skipped(w.data) : 0) : this.state.start;
    this.set({ lines, start, next: w.next_offset, size: w.size, eof: w.eof, loading: false, error: undefined, begun: true });
  }

  private failed(error: unknown): void {
    if (this.stop.signal.aborted) return;
    // Nothing was started yet: there will be output later.
    const none = error instanceof ApiError && error.status === 404;
    this.set({ loading: false, error: none ? undefined : error, eof: none ? true : this.state.eof });
  }

  private set(part: Partial<LogState>): void {
    this.state = { ...this.state, ...part };
    for (const changed of this.watchers) changed();
  }
}

/** split cuts text into lines; a window that begins within a line loses that piece, which the window before has. */
function split(data: string, cutHead: boolean): string[] {
  const text = cutHead ? data.slice(data.indexOf("\n") + 1) : data;
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
}

const encoder = new TextEncoder();

function skipped(data: string): number {
  return encoder.encode(data.slice(0, data.indexOf("\n") + 1)).length;
}
