import type { Found, Hit, Search } from "./api";

// The search in one output: which hits are known, and at which of them the reader is. The
// server has them all; here is a stretch of them, with their numbers.

export interface Wish {
  text: string;
  regex: boolean;
  case: boolean;
}

export interface FindState {
  wish: Wish;
  hits: Hit[]; // next to each other, in the order of the output
  at: number; // among hits; -1: none
  total: number;
  whole: boolean; // total is exact
  busy: boolean;
  done: boolean; // the server has answered
  error: unknown;
}

/** Broken is why an expression can't be one yet. */
export type Broken = "group" | "class" | "repeat" | "escape";

const reasons: [RegExp, Broken][] = [
  [/Unterminated group|Unmatched/, "group"],
  [/Unterminated character class|Range out of order/, "class"],
  [/othing to repeat|out of order in \{\}/, "repeat"],
  [/\\ at end/, "escape"],
];

/** broken tells what is wrong in an expression that is still being typed, as far as browser and server agree. */
export function broken(wish: Wish): Broken | undefined {
  if (!wish.regex) return undefined;
  try {
    new RegExp(wish.text);
    return undefined;
  } catch (error) {
    // What only the browser refuses is for the server to judge.
    return reasons.find(([said]) => said.test(String(error)))?.[1];
  }
}

type Ask = (search: Search, signal: AbortSignal) => Promise<Found>;

const none = { hits: [], at: -1, total: 0, whole: true, busy: false, done: false, error: undefined };
/** stretch is how many hits are kept here. */
const stretch = 500;

export class Finder {
  private state: FindState = { wish: { text: "", regex: false, case: false }, ...none };
  private readonly watchers = new Set<() => void>();
  private asked = new AbortController();

  constructor(private readonly ask: Ask) {}

  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  get = (): FindState => this.state;

  /** current is the hit that the reader is at. */
  current(): Hit | undefined {
    return this.state.hits[this.state.at];
  }

  end(): void {
    this.asked.abort();
  }

  /** wish looks for something else, from a line on. */
  async wish(part: Partial<Wish>, line: number): Promise<void> {
    const wish = { ...this.state.wish, ...part };
    this.asked.abort();
    this.set({ ...none, wish });
    if (wish.text !== "" && !broken(wish)) await this.from(line, false);
  }

  /** next goes to the hit after the current one; from the last one to the first. */
  async next(): Promise<void> {
    const { at, hits, total } = this.state;
    const last = hits.at(-1);
    if (at + 1 < hits.length) this.set({ at: at + 1 });
    else if (last && total > hits.length) await this.from(last.number === total ? 1 : last.line + 1, false);
    else if (last) this.set({ at: 0 });
  }

  /** previous goes the other way. */
  async previous(): Promise<void> {
    const { at, hits, total } = this.state;
    const first = hits[0];
    if (at > 0) this.set({ at: at - 1 });
    else if (first && total > hits.length) await this.from(first.number === 1 ? undefined : first.line, true);
    else if (first) this.set({ at: hits.length - 1 });
  }

  private async from(line: number | undefined, backward: boolean): Promise<void> {
    this.asked.abort();
    const asked = new AbortController();
    this.asked = asked;
    this.set({ busy: true, error: undefined });
    const { text, regex, case: exact } = this.state.wish;
    const query = { q: text, regex, case: exact, count: true, limit: stretch };
    try {
      let found = await this.ask({ ...query, backward, ...(line ? { line } : {}) }, asked.signal);
      // None from here on: the first of all is the next one.
      if (!backward && found.hits.length === 0 && found.total > 0) found = await this.ask({ ...query, line: 1 }, asked.signal);
      if (asked.signal.aborted) return;
      const hits = backward ? found.hits.toReversed() : found.hits;
      this.set({
        hits,
        at: backward ? hits.length - 1 : hits.length > 0 ? 0 : -1,
        total: found.total,
        whole: found.whole,
        done: true,
        busy: false,
      });
    } catch (error) {
      if (!asked.signal.aborted) this.set({ ...none, error, done: true });
    }
  }

  private set(part: Partial<FindState>): void {
    this.state = { ...this.state, ...part };
    for (const changed of this.watchers) changed();
  }
}
