import { describe, expect, it } from "vitest";
import { hubSearch, instanceSearch, instancesSearch } from "./search";

describe("an address", () => {
  it("keeps what is understood, numbers as text", () => {
    expect(instanceSearch({ tab: "gantt", task: "load dim", attempt: 2, problems: 1 })).toMatchObject({
      tab: "gantt",
      task: "load dim",
      attempt: "2",
      problems: "1",
    });
    expect(hubSearch({ v: 3, start: 1 })).toMatchObject({ v: "3", start: "1" });
    expect(instanceSearch({ task: 7 }).task).toBe("7");
  });
  it("leaves out what is not, so that an old link opens", () => {
    const bad = instanceSearch({ tab: "nope", attempt: "-1", out: "x", panel: {}, task: "x".repeat(513) });
    expect(Object.values(bad).filter((v) => v !== undefined)).toEqual([]);
    expect(instancesSearch({ span: "3w", st: ["failed"] })).toEqual({
      st: undefined,
      project: undefined,
      workflow: undefined,
      span: undefined,
      from: undefined,
      to: undefined,
      v: undefined,
      by: undefined,
      param: undefined,
      longer: undefined,
    });
    expect(instancesSearch({ from: "yesterday", v: "0", longer: "2w", param: "x".repeat(201) })).toEqual(instancesSearch({}));
    expect(instancesSearch({ v: 3, longer: "10m", from: "2026-11-21T12:00:00.000Z" })).toMatchObject({
      v: "3",
      longer: "10m",
      from: "2026-11-21T12:00:00.000Z",
    });
    expect(instanceSearch({ with: "x", zoom: "1-2" })).toEqual(instanceSearch({}));
  });
});
