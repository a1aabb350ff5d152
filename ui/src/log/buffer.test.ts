import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LogBuffer, type Read } from "./buffer";

class Output {
  text = "";
  done = false;
  read: Read = async (offset, limit) => {
    const from = offset < 0 ? Math.max(0, this.text.length + offset) : offset;
    const data = this.text.slice(from, from + limit);
    return {
      offset: from,
      next_offset: from + data.length,
      size: this.text.length,
      eof: this.done && from + data.length >= this.text.length,
      data,
    };
  };
}

describe("the log buffer", () => {
  let out: Output;
  beforeEach(() => {
    vi.useFakeTimers();
    out = new Output();
  });
  afterEach(() => vi.useRealTimers());
  const texts = (b: LogBuffer) => b.get().lines.map((l) => l.text);

  it("reads a finished log whole and stops asking", async () => {
    out.text = "one\ntwo\r\nthree\n";
    out.done = true;
    const b = new LogBuffer(out.read);
    await b.begin();
    expect(texts(b)).toEqual(["one", "two", "three"]);
    expect(b.get().eof).toBe(true);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("joins a line that came in pieces", async () => {
    out.text = "one\ntw";
    const b = new LogBuffer(out.read);
    await b.begin();
    expect(texts(b)).toEqual(["one", "tw"]);
    out.text += "o";
    await vi.advanceTimersByTimeAsync(700);
    expect(texts(b)).toEqual(["one", "two"]);
    await vi.advanceTimersByTimeAsync(700);
    expect(texts(b)).toEqual(["one", "two"]);
    out.text += "\nthree\nfo";
    await vi.advanceTimersByTimeAsync(700);
    expect(texts(b)).toEqual(["one", "two", "three", "fo"]);
    out.text += "ur\n";
    out.done = true;
    await vi.advanceTimersByTimeAsync(700);
    expect(texts(b)).toEqual(["one", "two", "three", "four"]);
    expect(b.get().lines.map((l) => l.number)).toEqual([0, 1, 2, 3]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("opens a long log at its end, and reads backwards without losing a byte", async () => {
    const all = Array.from({ length: 60_000 }, (_, i) => `line ${i}`);
    out.text = `${all.join("\n")}\n`;
    out.done = true;
    const b = new LogBuffer(out.read);
    await b.begin();
    expect(texts(b).at(-1)).toBe("line 59999");
    expect(b.get().start).toBeGreaterThan(0);
    await b.before();
    const got = texts(b);
    expect(got).toEqual(all.slice(-got.length));
    const numbers = b.get().lines.map((l) => l.number);
    expect(numbers).toEqual(numbers.map((_, i) => (numbers[0] ?? 0) + i));
  });

  it("stops when it is ended", async () => {
    out.text = "one\n";
    const b = new LogBuffer(out.read);
    await b.begin();
    b.end();
    expect(vi.getTimerCount()).toBe(0);
  });
});
