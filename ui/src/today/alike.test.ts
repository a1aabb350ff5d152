import { describe, expect, it } from "vitest";
import type { Instance } from "../api/client";
import { alike } from "./alike";

// As much of an instance as is read here.
const failed = (id: string, workflow: string, task?: string, more: Partial<Instance> = {}) =>
  ({
    id,
    project: "etl",
    workflow,
    state: "failed",
    outline: { tasks: 2, done: 2, median_ms: 0, late: false, ...(task && { culprit: { task, state: "failed", reason: "exit_code" } }) },
    ...more,
  }) as Instance;

describe("alike failures", () => {
  it("are those of one workflow by one task", () => {
    const list = [
      failed("9", "daily", "load"),
      failed("8", "hourly", "load"),
      failed("7", "daily", "load"),
      failed("6", "daily", "extract"),
    ];
    expect(alike(list).map((g) => [g.newest.id, ...g.older.map((i) => i.id)])).toEqual([["9", "7"], ["8"], ["6"]]);
  });

  it("are not what failed in another way", () => {
    const aside = failed("8", "daily", "load", { state: "quarantined" });
    expect(alike([failed("9", "daily", "load"), aside])).toHaveLength(2);
    const late = failed("7", "daily", undefined, { reason: "timeout" });
    expect(alike([late, failed("6", "daily", undefined, { reason: "deadline" }), { ...late, id: "5" }]).map((g) => g.older.length)).toEqual(
      [1, 0],
    );
  });

  it("are not what failed in another project", () => {
    expect(alike([failed("9", "daily", "load"), failed("8", "daily", "load", { project: "dwh" })])).toHaveLength(2);
  });
});
