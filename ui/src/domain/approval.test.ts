import { describe, expect, it } from "vitest";
import { approvedBy, boundsOf, filledIn, missingIn, standingOf } from "./approval";

const said = (by: string, approve: boolean) => ({ by, approve, at: "2026-11-21T12:00:00.000Z" });

describe("an approval", () => {
  it("counts those who said yes, in their order", () => {
    expect(approvedBy({ decisions: [said("bob", true), said("eve", false), said("ann", true)] })).toEqual(["bob", "ann"]);
  });

  it("stands for each reader as he has a part in it", () => {
    const waits = { may_decide: false, state: "running", decisions: [said("bob", true)] };
    expect(standingOf({ ...waits, may_decide: true }, "ann")).toBe("mine");
    expect(standingOf(waits, "bob")).toBe("decided");
    expect(standingOf(waits, "eve")).toBe("others");
    expect(standingOf({ ...waits, state: "success" }, "bob")).toBe("over");
  });

  it("wants a value of every field without a default, and sends only what was filled in", () => {
    const form = [{ name: "percent" }, { name: "note", default: "none" }, { name: "day", default: "" }];
    expect(missingIn(form, {})).toEqual(["percent"]);
    expect(missingIn(form, { percent: "10" })).toEqual([]);
    expect(filledIn(form, { percent: "10", note: "", left: "over" })).toEqual({ percent: "10" });
  });

  it("says the bounds of a field in signs", () => {
    expect(boundsOf({ min: "1", max: "100" })).toBe("1 – 100");
    expect(boundsOf({ min: "1" })).toBe("≥ 1");
    expect(boundsOf({ max: "9", pattern: "\\d" })).toBe("≤ 9 /\\d/");
    expect(boundsOf({})).toBe("");
  });
});
