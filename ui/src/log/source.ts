import { ApiError } from "../api/error";
import type { LogWindow, Place } from "./api";
import { lineCount, nothing, type Shape } from "./shape";

// The lines of an attempt's output by their numbers: the end as it grows, and whatever is
// looked at. What is far from both is let go.

export interface LogState {
  shape: Shape;
  size: number;
  eof: boolean; // the attempt is over
  numbered: boolean; // the server knows which lines these are
  loading: boolean;
  begun: boolean;
  error: unknown;
  version: number; // changes with the lines
}

export type Read = (at: Place, signal: AbortSignal) => Promise<LogWindow>;

/** tailBytes is what a log opens with: some hundred lines. */
const tailBytes = 64 << 10;
/** Between two questions whether there is more, while the attempt runs. */
const pollEvery = 700;
/** chunkLines is what is asked for at once around a place. */
const chunkLines = 600;
/** maxLines bounds what the page keeps. */
const maxLines = 20_000;
/** maxText is how much of a line is shown; the download has the rest. */
export const maxText = 10_000;

export class LogSource {
  private state: LogState = {
    shape: nothing,
    size: 0,
    eof: false,
    numbered: true,
    loading: true,
    begun: false,
    error: undefined,
    version: 0,
  };
  private readonly lines = new Map<number, string>();
  private readonly watchers = new Set<() => void>();
  private readonly stop = new AbortController();
  private next = 0; // where the end that was read last goes on
  private last = 1; // the line that next is in
  private within = false; // next is not at that line's beginning
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wanted: { from: number; to: number } | undefined;
  private busy = false;
  private tailing = true;

  constructor(private readonly read: Read) {}

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  get = (): LogState => this.state;

  /** line is the text of a line; undefined while it is not here. */
  line(number: number): string | undefined {
    return this.lines.get(number);
  }

  /** begin reads the end, and goes on as long as the attempt prints. */
  async begin(): Promise<void> {
    try {
      this.takeTail(await this.read({ offset: -tailBytes, limit: tailBytes }, this.stop.signal));
      this.again();
    } catch (error) {
      this.failed(error);
    }
  }

  /** end stops reading; the source is of no use after it. */
  end(): void {
    this.stop.abort();
    clearTimeout(this.timer);
  }

  /** follow says whether the end is looked at: if not, only its place is asked for. */
  follow(on: boolean): void {
    this.tailing = on;
  }

  /** want brings lines that are looked at. */
  want(from: number, to: number): void {
    this.wanted = { from, to };
    if (!this.busy) void this.fill();
  }

  /** copy gives lines as they are, for the clipboard. */
  async copy(from: number, to: number): Promise<string[]> {
    for (let missing = this.missing(from, to); missing !== undefined; ) {
      await this.fetch(missing);
      const still = this.missing(from, to);
      if (still === missing) break;
      missing = still;
    }
    return Array.from({ length: to - from + 1 }, (_, i) => this.lines.get(from + i) ?? "");
  }

  private missing(from: number, to: number): number | undefined {
    const { shape } = this.state;
    for (let n = from; n <= Math.min(to, lineCount(shape)); n++) {
      if (shape.gap && n > shape.gap.lines_from + 1 && n <= shape.gap.lines_to) n = shape.gap.lines_to + 1;
      if (!this.lines.has(n) && n <= to) return n;
    }
    return undefined;
  }

  private async fill(): Promise<void> {
    this.busy = true;
    try {
      // What is wanted changes while it is fetched: the newest wish counts.
      while (this.wanted && !this.stop.signal.aborted) {
        const missing = this.missing(this.wanted.from, this.wanted.to);
        if (missing === undefined) break;
        await this.fetch(Math.max(1, missing - 60));
        // A line that can't be had, in a log that shrank, is not asked for again.
        if (!this.lines.has(missing)) this.lines.set(missing, "");
        this.forget(this.wanted.from);
        this.changed({});
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.busy = false;
    }
  }

  /** fetch reads lines from one on, skipping those that are here. */
  private async fetch(from: number): Promise<void> {
    const line = this.missing(from, from + chunkLines) ?? from;
    const w = await this.read({ line, lines: chunkLines }, this.stop.signal);
    this.put(w);
    this.changed(this.told(w));
  }

  /** put keeps the whole lines of a window, and a part of one only where that is all there is. */
  private put(w: LogWindow): void {
    const texts = w.data.split("\n");
    const rest = texts.pop() ?? "";
    for (const [i, text] of texts.entries()) this.lines.set(w.line + i, shorten(text));
    const more = w.next_offset < w.size && !(w.left_out && w.next_offset === w.left_out.from);
    if (rest !== "" && (!more || texts.length === 0)) this.lines.set(w.line + texts.length, shorten(rest));
  }

  private takeTail(w: LogWindow): void {
    if (w.line === 0 && w.size > 0) {
      this.takeUnnumbered(w);
      return;
    }
    const cut = w.offset > 0 && w.offset !== w.left_out?.to;
    const at = cut ? w.data.indexOf("\n") + 1 : 0;
    // A window that lies within one long line shows it from there.
    const whole = { ...w, data: w.data.slice(at), line: w.line + (at > 0 ? 1 : 0) };
    if (w.size > 0) this.put(whole);
    this.remember(w);
    this.changed({ ...this.told(w), loading: false, begun: true });
  }

  /** takeUnnumbered shows the end that the database has kept of an output that is gone. */
  private takeUnnumbered(w: LogWindow): void {
    this.put({ ...w, line: 1, newlines: 0 });
    const newlines = w.data.split("\n").length - 1;
    this.changed({
      shape: { newlines, open: !w.data.endsWith("\n") && w.data !== "", gap: undefined },
      numbered: false,
      size: w.size,
      eof: true,
      loading: false,
      begun: true,
    });
  }

  private remember(w: LogWindow): void {
    this.next = w.next_offset;
    if (w.data === "") return;
    this.last = w.line + w.data.split("\n").length - 1;
    this.within = !w.data.endsWith("\n");
  }

  private again(): void {
    if (this.state.eof || this.stop.signal.aborted) return;
    this.timer = setTimeout(() => void this.more(), pollEvery);
  }

  private async more(): Promise<void> {
    try {
      if (this.tailing) await this.moreTail();
      else this.changed(this.told(await this.read({ offset: -1, limit: 1 }, this.stop.signal)));
    } catch (error) {
      this.failed(error);
    }
    this.again();
  }

  private async moreTail(): Promise<void> {
    const w = await this.read({ offset: this.next }, this.stop.signal);
    if (w.offset !== this.next || w.next_offset < w.size) {
      // It prints faster than it is read: go on at the end, the rest is read when it is looked at.
      this.takeTail(await this.read({ offset: -tailBytes, limit: tailBytes }, this.stop.signal));
    } else if (w.data === "") {
      this.changed(this.told(w));
    } else {
      const begun = this.within ? this.lines.get(this.last) : "";
      this.put(begun === undefined ? { ...w, ...fromNextLine(w) } : { ...w, data: begun + w.data });
      this.remember(w);
      this.changed(this.told(w));
    }
    this.forget(lineCount(this.state.shape));
  }

  /** told is what a window says of the whole output. */
  private told(w: LogWindow): Partial<LogState> {
    const atEnd = w.next_offset >= w.size;
    const { shape } = this.state;
    const open = atEnd && w.data !== "" ? !w.data.endsWith("\n") : shape.open;
    return {
      shape: { newlines: w.newlines, open, gap: w.left_out },
      size: w.size,
      eof: atEnd ? w.eof : this.state.eof,
      error: undefined,
      loading: false,
    };
  }

  private forget(around: number): void {
    if (this.lines.size <= maxLines) return;
    const end = lineCount(this.state.shape);
    for (const n of this.lines.keys()) {
      if (Math.abs(n - around) > maxLines / 4 && n < end - maxLines / 4) this.lines.delete(n);
    }
  }

  private failed(error: unknown): void {
    if (this.stop.signal.aborted) return;
    // Nothing was started yet: there will be output later.
    const none = error instanceof ApiError && error.status === 404;
    this.changed({ loading: false, error: none ? undefined : error, eof: none ? true : this.state.eof });
  }

  private changed(part: Partial<LogState>): void {
    this.state = { ...this.state, ...part, version: this.state.version + 1 };
    for (const changed of this.watchers) changed();
  }
}

function fromNextLine(w: LogWindow): { data: string; line: number } {
  const at = w.data.indexOf("\n") + 1;
  return { data: w.data.slice(at), line: w.line + (at > 0 ? 1 : 0) };
}

function shorten(line: string): string {
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text;
}
