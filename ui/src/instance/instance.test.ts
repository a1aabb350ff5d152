import { describe, expect, it } from "vitest";
import type { InstanceEvent, Task } from "../api/client";
import { paramPairs, taskPairs } from "./difference";
import { eventRows } from "./history";

const at = (s: number) => new Date(Date.UTC(2026, 10, 21, 12, 0, s)).toISOString();
// Only what is read is given.
const task = (name: string, state: string, s: number) => ({ name, state, started_at: at(0), finished_at: at(s) }) as Task;

describe("a comparison", () => {
  it("puts what ended differently first, then what took longer, by name", () => {
    const one = [task("a", "success", 1), task("b", "success", 9), task("c", "failed", 2), task("new", "success", 1)];
    const other = [task("c", "success", 2), task("b", "success", 3), task("a", "success", 1), task("gone", "success", 1)];
    const pairs = taskPairs(one, other);
    expect(pairs.map((p) => p.name)).toEqual(["c", "new", "gone", "b", "a"]);
    expect(pairs.find((p) => p.name === "b")).toMatchObject({ took: 9000, otherTook: 3000, by: 6000 });
    expect(pairs.find((p) => p.name === "gone")?.one).toBeUndefined();
  });
  it("lists the parameters that differ before those that are alike", () => {
    expect(paramPairs({ a: "1", b: "2" }, { a: "1", c: "3" }).map((p) => p.name)).toEqual(["b", "c", "a"]);
  });
});

describe("the history", () => {
  const events: InstanceEvent[] = [
    { seq: 1, at: at(0), code: "instance", state: "running", round: 1, by: "ann" },
    { seq: 2, at: at(1), code: "task", task: "load", state: "ready", round: 1 },
    { seq: 3, at: at(5), code: "task", task: "load", state: "failed", reason: "exit_code", round: 1 },
  ];
  it("says how long nothing happened before each row that is shown", () => {
    expect(eventRows(events, "").map((r) => r.gap)).toEqual([0, 1000, 4000]);
    expect(eventRows(events, "LOAD exit").map((r) => [r.e.seq, r.gap])).toEqual([[3, 0]]);
    expect(eventRows(events, "nothing")).toEqual([]);
  });
});
