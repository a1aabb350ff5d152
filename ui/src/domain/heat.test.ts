import { expect, it } from "vitest";
import { fullest, levelOf, short, step } from "./heat";

it("gives what is there at least the smallest size, and the fullest the largest", () => {
  expect([0, 1, 200, 201, 999, 1000].map((n) => levelOf(n, 1000))).toEqual([0, 1, 1, 2, 5, 5]);
  expect(levelOf(0, 0)).toBe(0);
  expect(levelOf(-1, 5)).toBe(0);
});

it("lists the fullest cells first, those of nothing and of hours that are not there left out", () => {
  expect(
    fullest([
      [0, 3],
      [-1, 7],
      [3, 0],
    ]).map(({ row, column, n }) => `${row}.${column}=${n}`),
  ).toEqual(["1.1=7", "0.1=3", "2.0=3"]);
});

it("walks by keys and stays within", () => {
  expect(step("ArrowRight", { row: 0, column: 23 }, 7, 24)).toEqual({ row: 0, column: 23 });
  expect(step("ArrowDown", { row: 0, column: 5 }, 7, 24)).toEqual({ row: 1, column: 5 });
  expect(step("End", { row: 3, column: 5 }, 7, 24)).toEqual({ row: 3, column: 23 });
  expect(step("a", { row: 3, column: 5 }, 7, 24)).toBeUndefined();
});

it("writes counts in little room", () => {
  expect([0, 999, 1000, 1250, 12_900, 3_450_000].map(short)).toEqual(["0", "999", "1k", "1.2k", "12k", "3.4M"]);
});
