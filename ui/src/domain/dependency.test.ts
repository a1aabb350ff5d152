import { describe, expect, it } from "vitest";
import { groupOf, intervalWords } from "./dependency";
import type { Value } from "./document/tree";

describe("the check of a dependent task", () => {
  it("is a group of items and of groups", () => {
    const got = groupOf({ all: [{ workflow: "a", date: "today" }, { any: [{ workflow: "b", date: "today" }] }] });
    expect(got?.join).toBe("all");
    expect(got?.members.map((m) => m.kind)).toEqual(["item", "group"]);
    expect(got?.members[1]).toEqual({
      kind: "group",
      group: { join: "any", members: [{ kind: "item", fields: { workflow: "b", date: "today" } }] },
    });
  });

  it("is empty where nothing is said, and left to the text where it has another shape", () => {
    expect(groupOf(undefined)).toEqual({ join: "all", members: [] });
    expect(groupOf({})).toEqual({ join: "all", members: [] });
    expect(groupOf({ any: null })).toEqual({ join: "any", members: [] });
    const odds: Value[] = ["x", { all: [], any: [] }, { all: "x" }, { all: [1] }, { none: [] }, { all: [{ any: [{ all: [] }] }] }];
    for (const odd of odds) expect(groupOf(odd)).toBeUndefined();
  });
});

describe("the intervals of a date", () => {
  it("reach from the first to the last, with the offset that holds at their end", () => {
    expect(intervalWords([{ from: "2026-03-28T00:00:00Z", to: "2026-03-29T00:00:00Z" }])).toEqual({
      from: "2026-03-28 00:00",
      to: "2026-03-29 00:00 +00:00",
      count: 1,
    });
  });

  it("name both offsets where the clocks change within", () => {
    const days = [
      { from: "2026-03-28T00:00:00+01:00", to: "2026-03-29T00:00:00+01:00" },
      { from: "2026-03-29T00:00:00+01:00", to: "2026-03-30T00:00:00+02:00" },
    ];
    expect(intervalWords(days)).toEqual({ from: "2026-03-28 00:00 +01:00", to: "2026-03-30 00:00 +02:00", count: 2 });
    expect(intervalWords([])).toBeUndefined();
  });
});
