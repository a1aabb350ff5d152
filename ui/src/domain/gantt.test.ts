import { describe, expect, it } from "vitest";
import type { InstanceEvent } from "../api/client";
import { criticalPath, gantt, medianAt, sorted, ticks, zoomOf } from "./gantt";

const base = Date.UTC(2026, 2, 27, 2, 0, 0);
let seq = 0;
function event(s: number, task: string, state: string, attempt?: number): InstanceEvent {
  seq++;
  return { seq, at: new Date(base + s * 1000).toISOString(), code: "task", task, state, attempt, round: 1 };
}

describe("gantt", () => {
  it("splits a task into queue, dispatch and run", () => {
    const g = gantt(
      [event(0, "a", "ready"), event(1, "a", "dispatched", 1), event(2, "a", "running", 1), event(6, "a", "success", 1)],
      base + 9e9,
    );
    expect(g.rows[0]?.segments.map((s) => [s.phase, s.to - s.from, s.state])).toEqual([
      ["queue", 1000, "success"],
      ["dispatch", 1000, "success"],
      ["run", 4000, "success"],
    ]);
    expect([g.from, g.to]).toEqual([base, base + 6000]);
  });

  it("has the median after the beginning of the latest run", () => {
    const g = gantt(
      [event(0, "a", "running", 1), event(2, "a", "retry_wait", 1), event(5, "a", "running", 2), event(6, "b", "ready")],
      base + 9000,
    );
    const [a, b] = g.rows;
    expect(a && medianAt(a, 3000)).toBe(base + 8000);
    expect(a && medianAt(a, 0)).toBeUndefined();
    expect(b && medianAt(b, 3000)).toBeUndefined();
  });

  it("shows every attempt and the gap before the next", () => {
    const g = gantt(
      [event(0, "a", "running", 1), event(2, "a", "retry_wait", 1), event(5, "a", "running", 2), event(6, "a", "failed", 2)],
      base + 9000,
    );
    expect(g.rows[0]?.segments.map((s) => [s.phase, s.attempt, s.state])).toEqual([
      ["run", 1, "failed"],
      ["retry", 1, "success"],
      ["run", 2, "failed"],
    ]);
  });

  it("draws a task that ended before its start was told as a run", () => {
    const g = gantt([event(0, "a", "dispatched", 1), event(1, "a", "failed", 1)], base + 9000);
    expect(g.rows[0]?.segments.map((s) => [s.phase, s.state])).toEqual([["run", "failed"]]);
  });

  it("lets what runs end now, and a kill be the same bar", () => {
    const g = gantt([event(0, "a", "running", 1), event(2, "a", "killing", 1), event(1, "b", "running", 1)], base + 8000);
    expect(g.rows.find((r) => r.task === "a")?.segments).toEqual([
      { phase: "run", state: "running", attempt: 1, from: base, to: base + 8000 },
    ]);
    expect(g.to).toBe(base + 8000);
  });

  it("has nothing to show without events", () => expect(gantt([], 5).rows).toEqual([]));

  it("sorts by start, definition and duration", () => {
    const g = gantt([event(0, "b", "running"), event(1, "a", "running"), event(2, "a", "success"), event(9, "b", "success")], base);
    const order = new Map([
      ["a", 0],
      ["b", 1],
    ]);
    const names = (by: "start" | "graph" | "duration") =>
      sorted(g.rows, by, order)
        .map((r) => r.task)
        .join("");
    expect([names("start"), names("graph"), names("duration")]).toEqual(["ba", "ab", "ba"]);
  });
});

describe("ticks", () => {
  it.each([
    [0, 10_000, 10],
    [0, 90, 8],
    [base, base + 86_400_000 * 40, 6],
  ])("between %d and %d are round and at most %d", (from, to, count) => {
    const all = ticks(from, to, count);
    expect(all.length).toBeLessThanOrEqual(count + 1);
    expect(all.length).toBeGreaterThan(1);
  });
});

describe("what the chart adds", () => {
  const instance = (s: number, state: string, round = 1): InstanceEvent => {
    seq++;
    return { seq, at: new Date(base + s * 1000).toISOString(), code: "instance", state, round };
  };

  it("begins a task's row with its wait for others, once a round", () => {
    const g = gantt([instance(0, "running"), event(3, "b", "ready"), event(4, "b", "running", 1), event(5, "b", "success", 1)], base);
    expect(g.rows[0]?.segments.map((s) => [s.phase, s.to - s.from])).toEqual([
      ["wait", 3000],
      ["queue", 1000],
      ["run", 1000],
    ]);
    expect(g.rows[0]?.from).toBe(base + 3000);
  });

  it("shows an attempt that was lost with its worker as lost", () => {
    const lost = { ...event(2, "a", "ready"), reason: "worker_lost" };
    const g = gantt([event(0, "a", "running", 1), lost, event(3, "a", "running", 2), event(4, "a", "success", 2)], base);
    expect(g.rows[0]?.segments.map((s) => [s.phase, s.state])).toEqual([
      ["run", "lost"],
      ["queue", "success"],
      ["run", "success"],
    ]);
  });

  it("finds the chain that the end waited for", () => {
    const g = gantt(
      [
        event(0, "a", "running"),
        event(0, "b", "running"),
        event(2, "a", "success"),
        event(5, "b", "success"),
        event(5, "c", "running"),
        event(6, "c", "success"),
      ],
      base,
    );
    expect([...criticalPath(g.rows, new Map([["c", ["a", "b"]]]))]).toEqual(["c", "b"]);
    expect([...criticalPath(g.rows, new Map([["c", ["c"]]]))]).toEqual(["c"]);
    expect(criticalPath([], new Map()).size).toBe(0);
  });

  it("zooms within the whole, and shows the whole where the address says nonsense", () => {
    const whole = { from: 100, to: 200 };
    expect(zoomOf("120-150", whole)).toEqual({ from: 120, to: 150 });
    expect(zoomOf("50-150", whole)).toEqual({ from: 100, to: 150 });
    for (const text of [undefined, "", "150-120", "x-y", "300-400"]) expect(zoomOf(text, whole)).toEqual(whole);
  });
});
