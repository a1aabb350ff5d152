import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Found, LogWindow, Place } from "./api";
import { lineCount } from "./shape";
import { LogSource } from "./source";

/** Output answers as the server does; window bounds an answer as the worker does. */
class Output {
  text = "";
  done = false;
  window = 256 << 10;
  asked: Place[] = [];
  read = async (at: Place): Promise<LogWindow> => {
    this.asked.push(at);
    let from = Math.min(this.text.length, at.offset ?? 0);
    if (from < 0) from = Math.max(0, this.text.length + from);
    if (at.line) {
      from = 0;
      for (let n = 1; n < at.line && from < this.text.length; n++) from = this.text.indexOf("\n", from) + 1 || this.text.length;
    }
    let data = this.text.slice(from, from + Math.min(at.limit ?? 64 << 10, this.window));
    if (at.lines)
      data = data
        .split(/(?<=\n)/)
        .slice(0, at.lines)
        .join("");
    const next = from + data.length;
    const count = (s: string) => s.split("\n").length - 1;
    return {
      offset: from,
      next_offset: next,
      size: this.text.length,
      eof: this.done && next >= this.text.length,
      line: count(this.text.slice(0, from)) + 1,
      newlines: count(this.text),
      data,
    };
  };
}

describe("the source of a log", () => {
  let out: Output;
  beforeEach(() => {
    vi.useFakeTimers();
    out = new Output();
  });
  afterEach(() => vi.useRealTimers());
  const all = (s: LogSource) => Array.from({ length: lineCount(s.get().shape) }, (_, i) => s.line(i + 1));
  const poll = () => vi.advanceTimersByTimeAsync(700);

  it("reads a finished log whole and stops asking", async () => {
    out.text = "one\ntwo\r\nthree\n";
    out.done = true;
    const s = new LogSource(out.read);
    await s.begin();
    expect(all(s)).toEqual(["one", "two", "three"]);
    expect(s.get().eof).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("joins a line that came in pieces, whatever the pieces are", async () => {
    const text = "one\n\ntwo\r\nthree is longer\n\nfour";
    for (let cut = 1; cut < text.length; cut++) {
      out = new Output();
      out.text = text.slice(0, cut);
      const s = new LogSource(out.read);
      await s.begin();
      for (let more = cut + 3; more < text.length + 3; more += 3) {
        out.text = text.slice(0, more);
        await poll();
      }
      expect(all(s), `cut at ${cut}`).toEqual(["one", "", "two", "three is longer", "", "four"]);
      s.end();
    }
  });

  it("begins before there is anything", async () => {
    const s = new LogSource(async (at) =>
      out.text === "" ? { offset: 0, next_offset: 0, size: 0, eof: false, line: 0, newlines: 0, data: "" } : out.read(at),
    );
    await s.begin();
    expect(s.get()).toMatchObject({ loading: false, eof: false, size: 0 });
    out.text = "one\n";
    await poll();
    expect(all(s)).toEqual(["one"]);
    s.end();
  });

  it("opens a long log at its end, and brings any line by its number", async () => {
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i + 1}`);
    out.text = `${lines.join("\n")}\n`;
    out.done = true;
    const s = new LogSource(out.read);
    await s.begin();
    expect(out.asked.length).toBe(1);
    expect(s.line(60_000)).toBe("line 60000");
    expect(s.line(30_000)).toBeUndefined();
    s.want(29_950, 30_190);
    await vi.advanceTimersByTimeAsync(0);
    expect(s.line(29_950)).toBe("line 29950");
    expect(s.line(30_190)).toBe("line 30190");
    expect(out.asked.length).toBe(2);
    expect(await s.copy(1, 3)).toEqual(["line 1", "line 2", "line 3"]);
  });

  it("brings lines that are longer than a window, cut", async () => {
    out.text = `a\n${"x".repeat(30_000)}\nb\n${"y\n".repeat(50_000)}`;
    out.window = 5000;
    out.done = true;
    const s = new LogSource(out.read);
    await s.begin();
    s.want(1, 240);
    await vi.advanceTimersByTimeAsync(0);
    expect(s.line(1)).toBe("a");
    expect(s.line(2)).toMatch(/^x{5000}/);
    expect(s.line(3)).toBe("b");
  });

  it("leaves out what a fast log prints between two looks, and keeps the numbers", async () => {
    const s = new LogSource(out.read);
    await s.begin();
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i + 1}`);
    out.text = `${lines.join("\n")}\n`;
    await poll();
    expect(s.line(60_000)).toBe("line 60000");
    expect(lineCount(s.get().shape)).toBe(60_000);
    s.end();
  });

  it("asks only how far the log is while another place is read", async () => {
    out.text = "one\n";
    const s = new LogSource(out.read);
    await s.begin();
    s.follow(false);
    out.text += "two\nthr";
    await poll();
    expect(lineCount(s.get().shape)).toBe(3);
    expect(s.line(2)).toBeUndefined();
    expect(out.asked.at(-1)).toEqual({ offset: -1, limit: 1 });
    s.follow(true);
    await poll();
    expect(all(s)).toEqual(["one", "two", "thr"]);
    s.end();
  });

  it("keeps a bounded number of lines", async () => {
    out.text = "x\n".repeat(60_000);
    out.done = true;
    const s = new LogSource(out.read);
    await s.begin();
    for (let n = 1; n < 40_000; n += 600) {
      s.want(n, n + 240);
      await vi.advanceTimersByTimeAsync(0);
    }
    let kept = 0;
    for (let n = 1; n <= 60_000; n++) if (s.line(n) !== undefined) kept++;
    expect(kept).toBeLessThan(21_000);
  });

  it("shows an end without numbers where the server has no more", async () => {
    const s = new LogSource(async () => ({
      offset: 5000,
      next_offset: 5008,
      size: 5008,
      eof: true,
      line: 0,
      newlines: 0,
      data: "abc\ndef\n",
    }));
    await s.begin();
    expect(s.get()).toMatchObject({ numbered: false, eof: true });
    expect(all(s)).toEqual(["abc", "def"]);
  });

  it("stops when it is ended", async () => {
    out.text = "one\n";
    const s = new LogSource(out.read);
    await s.begin();
    s.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("the server's golden answers", () => {
  const golden = (name: string): unknown =>
    JSON.parse(readFileSync(new URL(`../../../apiserver/testdata/${name}.json`, import.meta.url), "utf8"));
  it("are what the panel reads", async () => {
    const w = golden("log_window") as LogWindow; // compared field by field below
    expect(Object.keys(w).sort()).toEqual(["data", "eof", "line", "newlines", "next_offset", "offset", "size"]);
    const s = new LogSource(async () => ({ ...w, offset: 0 }));
    await s.begin();
    expect(s.line(w.line)).toBe("hit");
    const f = golden("log_found") as Found; // as above
    expect(f.hits[0]).toMatchObject({ line: 2, number: 1, start: 0, length: 3 });
    expect(f).toMatchObject({ total: 1, whole: true });
  });
});
