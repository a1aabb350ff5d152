import { describe, expect, it } from "vitest";
import { blockAround, lineCount, lineOf, linesText, maxRows, parseLines, rowAt, rowCount, rowOf, type Shape, space } from "./shape";

const plain: Shape = { newlines: 10, open: true, gap: undefined };
const gapped: Shape = { newlines: 1000, open: false, gap: { from: 50, to: 900, lines_from: 4, lines_to: 990 } };

describe("lines and rows", () => {
  it("are the same in a whole log", () => {
    expect(lineCount(plain)).toBe(11);
    expect(rowCount(plain)).toBe(11);
    expect(lineOf(plain, 3)).toBe(4);
    expect(rowOf(plain, 4)).toBe(3);
    expect(rowOf(plain, 400)).toBe(10);
  });
  it("keep their numbers behind the gap, which is one row", () => {
    const lines = Array.from({ length: rowCount(gapped) }, (_, i) => lineOf(gapped, i));
    expect(lines).toEqual([1, 2, 3, 4, 5, undefined, 991, 992, 993, 994, 995, 996, 997, 998, 999, 1000]);
    for (const [row, line] of lines.entries()) if (line !== undefined) expect(rowOf(gapped, line)).toBe(row);
    expect(rowOf(gapped, 500)).toBe(5);
    expect(rowOf(gapped, 5000)).toBe(15);
  });
});

describe("the rows that are drawn", () => {
  it("are few, around the place, and within the log", () => {
    for (const rows of [0, 1, 239, 240, 241, 5_000_000]) {
      for (const row of [0, 1, 100, rows - 1]) {
        const b = blockAround(rows, row);
        expect(b.count).toBeLessThanOrEqual(maxRows);
        expect(b.first).toBeGreaterThanOrEqual(0);
        expect(b.first + b.count).toBeLessThanOrEqual(rows);
        if (row >= 0 && row < rows) expect(row >= b.first && row < b.first + b.count).toBe(true);
      }
    }
  });
  it("leave a height that browsers can scroll", () => {
    expect(space(100, 18)).toBe(18);
    expect(space(50_000_000, 18) * 50_000_000).toBeLessThanOrEqual(8_000_001);
  });
  it("are found from a place that was scrolled to, above and below them", () => {
    const rows = 100_000;
    const block = { first: 5000, count: 240 };
    const above = 5000 * 18;
    const height = 240 * 18;
    expect(rowAt(rows, block, above, 1000 * 18, height, 18)).toBe(1000);
    expect(rowAt(rows, block, above, 9000 * 18, height, 18)).toBe(9000);
    expect(rowAt(rows, block, above, 1e9, height, 18)).toBe(rows - 1);
    // Long wrapped lines make the block higher than its rows say.
    expect(rowAt(rows, block, above, above + 2 * height, 2 * height, 18)).toBe(5240);
  });
});

describe("lines in the address", () => {
  it("are one or a range", () => {
    expect(parseLines("7")).toEqual({ from: 7, to: 7 });
    expect(parseLines("9-7")).toEqual({ from: 7, to: 9 });
    for (const bad of [undefined, "", "0", "-3", "3-", "a", "1-2-3"]) expect(parseLines(bad)).toBeUndefined();
    expect(linesText(9, 7)).toBe("7-9");
    expect(linesText(7, 7)).toBe("7");
  });
});
