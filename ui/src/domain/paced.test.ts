import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { newlyFailed, Paced } from "./paced";

describe("what is said at a pace", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it("is said at once, and what comes within five seconds together after them", () => {
    const said: string[][] = [];
    const paced = new Paced((x) => said.push(x), 5000);
    paced.add(["a"]);
    expect(said).toEqual([["a"]]);
    paced.add(["b"]);
    vi.advanceTimersByTime(4000);
    paced.add(["c"]);
    vi.advanceTimersByTime(999);
    expect(said).toEqual([["a"]]);
    vi.advanceTimersByTime(1);
    expect(said).toEqual([["a"], ["b", "c"]]);
  });

  it("is taken back once it is quiet, and can be said again", () => {
    const said: string[][] = [];
    const paced = new Paced((x) => said.push(x), 5000);
    paced.add(["a"]);
    vi.advanceTimersByTime(60_000);
    paced.add(["a"]);
    expect(said).toEqual([["a"], [], ["a"]]);
  });

  it("is forgotten with the page", () => {
    const said: string[][] = [];
    const paced = new Paced((x) => said.push(x), 5000);
    paced.add(["a"]);
    paced.add(["b"]);
    paced.stop();
    vi.advanceTimersByTime(60_000);
    expect(said).toEqual([["a"]]);
  });

  it("are tasks that fail under the reader's eyes", () => {
    const was = new Map([
      ["a", "running"],
      ["b", "failed"],
    ]);
    const now = ["a", "b", "c"].map((name) => ({ name, state: "failed" }));
    expect(newlyFailed(was, now)).toEqual(["a"]);
  });
});
