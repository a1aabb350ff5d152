import { describe, expect, it } from "vitest";
import type { WorkflowOverview } from "../api/account";
import { matching } from "./matching";
import { stepsDone } from "./steps";

describe("the first steps", () => {
  const examples = { name: "examples", workflows: 5 };
  it("are all ahead on a new node, whose examples have run by themselves", () => {
    expect(stepsDone({ latest: [{ created_by: "porpoise" }], projects: [examples], looked: false })).toEqual({
      run: false,
      look: false,
      project: false,
      write: false,
    });
  });
  it("are done by what is there", () => {
    const known = { latest: [{ created_by: "porpoise" }, { created_by: "ann" }], looked: true };
    expect(stepsDone({ ...known, projects: [examples, { name: "etl", workflows: 0 }] })).toEqual({
      run: true,
      look: true,
      project: true,
      write: false,
    });
    expect(stepsDone({ ...known, projects: [{ name: "etl", workflows: 1 }] }).write).toBe(true);
  });
});

describe("the filter of workflows", () => {
  const w = (name: string, description: string): WorkflowOverview => ({
    id: name,
    project: "etl",
    name,
    description,
    published: 1,
    latest: 1,
    created_at: "",
    updated_at: "",
    changed_by: "ann",
    draft_revision: 0,
    last: [],
  });
  const list = [w("daily orders", "Loads the day"), w("weekly", "Sums up the orders")];
  it("keeps what has every word, in any capitals", () => {
    expect(matching(list, "ORDERS day").map((x) => x.name)).toEqual(["daily orders"]);
    expect(matching(list, "orders")).toHaveLength(2);
    expect(matching(list, "  ")).toBe(list);
    expect(matching(list, "monthly")).toEqual([]);
  });
});
