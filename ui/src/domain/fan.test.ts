import { expect, it } from "vitest";
import { fanOf } from "./fan";

it("counts the items of a fan-out by state, what is in trouble first, those without a child not at all", () => {
  expect(fanOf(10, { success: 4, waiting: 4, running: 1, failed: 1 })).toEqual({
    made: 6,
    items: 10,
    counts: [
      ["failed", 1],
      ["running", 1],
      ["success", 4],
    ],
  });
  expect(fanOf(3, { waiting: 3 })).toEqual({ made: 0, items: 3, counts: [] });
});

it("says nothing of a task that makes no items, or of a list that is not known", () => {
  expect(fanOf(undefined, undefined)).toBeUndefined();
  expect(fanOf(0, {})).toBeUndefined();
  expect(fanOf(5, undefined)).toBeUndefined();
});
