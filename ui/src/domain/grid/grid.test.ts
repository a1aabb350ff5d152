import { describe, expect, it } from "vitest";
import { byInstance, cellKey, chosenIn, keyAt, nothing, rectangle, toggled, walked, written } from "./choice";
import { durations, expand, twos } from "./code";
import { figures, percentile, turns } from "./figures";
import { type Answer, cellState, joined, lasted } from "./grid";

const states = { s: "success", f: "failed", u: "upstream_failed", r: "running", w: "waiting", K: "killed" } as const;
const at = (minute: number) => `2026-11-21T12:${String(minute).padStart(2, "0")}:00.000Z`;

type Instance = Answer["instances"][number];
const instance = (id: number, cells: string, more: Partial<Instance> = {}): Instance => ({
  id: String(id),
  state: "success",
  trigger: "manual",
  version: 1,
  round: 1,
  seq: 5,
  created_at: at(id),
  started_at: at(id),
  finished_at: at(id + 1),
  cells,
  took: "",
  ...more,
});
const answer = (instances: Instance[], more: Partial<Answer> = {}): Answer => ({
  version: 1,
  states,
  tasks: ["a", "b", "c"],
  gone: 3,
  median_ms: [1000, 2000, 3000],
  instances,
  ...more,
});

describe("letters", () => {
  it("come back as they were", () => {
    expect(expand("s3f", 4)).toBe("sssf");
    expect(expand("fs2.", 6)).toBe("fss...");
    expect(expand("s12", 12)).toBe("s".repeat(12));
    expect(expand("", 2)).toBe("..");
  });

  it("of durations are counted from the row's median", () => {
    // P is the middle of the alphabet; the next letter is 3 % more.
    const ms = durations("PQ ~", [3, 90_000], [999, 999, 5, 5, 7]);
    expect([...ms.slice(0, 2)]).toEqual([999, 1029]);
    expect(ms[2]).toBeNaN();
    expect(ms[3]).toBe(90_000);
    expect(ms[4]).toBeNaN();
  });

  it("of pairs leave an odd end out", () => {
    expect(twos([1, 2, 3])).toEqual([[1, 2]]);
    expect(twos(undefined)).toEqual([]);
  });
});

describe("a grid", () => {
  it("is read from an answer, with its attempts", () => {
    const grid = joined(undefined, answer([instance(1, "sfu", { took: "PP", attempts: [1, 3] })]), "newest");
    const [one] = grid.columns;
    if (!one) throw new Error("no column");
    expect([0, 1, 2].map((row) => cellState(grid, one, row))).toEqual(["success", "failed", "upstream_failed"]);
    expect(one.tries.get(1)).toBe(3);
    expect([...one.took.slice(0, 2)]).toEqual([1000, 2000]);
    expect(lasted(one, 0)).toBe(60_000);
  });

  it("takes older columns on its left, whose other tasks come last", () => {
    const newest = joined(undefined, answer([instance(5, "s3"), instance(6, "s2f")], { next_cursor: "older" }), "newest");
    const older = answer([instance(1, "sfs.", { version: 1 })], { tasks: ["a", "b", "x", "c"], median_ms: [1, 1, 70, 1], gone: 2 });
    const grid = joined(newest, { ...older, instances: [instance(1, "sfs.", { took: "  P" })] }, "older");
    expect(grid.columns.map((c) => c.id)).toEqual(["1", "5", "6"]);
    expect(grid.rows).toEqual(["a", "b", "c", "x"]);
    expect(grid.columns.map((c) => c.cells)).toEqual(["sf.s", "sss.", "ssf."]);
    expect(grid.columns[0]?.took[3]).toBe(70);
    expect(grid.next).toBeUndefined();
  });

  it("takes a column anew where it says more, and not where it says less", () => {
    const before = joined(undefined, answer([instance(1, "rww", { state: "running", seq: 4 })], { next_cursor: "older" }), "newest");
    const later = joined(before, answer([instance(1, "s3", { seq: 9 })]), "anew");
    expect(later.columns.map((c) => c.cells)).toEqual(["sss"]);
    expect(later.next).toBe("older");
    expect(joined(later, answer([instance(1, "rww", { seq: 4 })]), "anew").columns[0]?.cells).toBe("sss");
  });

  it("takes a new instance on its right, and none from beyond what is shown", () => {
    const before = joined(undefined, answer([instance(5, "s3")], { next_cursor: "older" }), "newest");
    const after = joined(before, answer([instance(2, "f3"), instance(7, "rww")]), "anew");
    expect(after.columns.map((c) => c.id)).toEqual(["5", "7"]);
  });

  it("begins anew with another version, and after a gap", () => {
    const before = joined(undefined, answer([instance(5, "s3")]), "newest");
    expect(joined(before, answer([instance(6, "s3")], { version: 2 }), "anew").columns.map((c) => c.id)).toEqual(["6"]);
    expect(joined(before, answer([instance(40, "s3")]), "newest").columns.map((c) => c.id)).toEqual(["40"]);
    expect(joined(before, answer([instance(5, "s3"), instance(6, "s3")]), "newest").columns.map((c) => c.id)).toEqual(["5", "6"]);
  });
});

describe("figures", () => {
  const grid = joined(
    undefined,
    answer([
      instance(1, "sKs", { took: "P" }),
      instance(2, "sfu", { took: "Q", version: 2 }),
      instance(3, "srw", { took: "O", version: 2 }),
    ]),
    "newest",
  );

  it("count what failed of what came to an end", () => {
    expect(figures(grid, grid.columns, 1)).toMatchObject({ failed: 2, ran: 2, p50: undefined });
    expect(figures(grid, grid.columns, 0)).toMatchObject({ failed: 0, ran: 3, p50: 1000, p95: 1030 });
  });

  it("know where another version begins", () => {
    expect(turns(grid.columns)).toEqual([1]);
  });

  it("take the nearest rank", () => {
    expect(percentile([], 50)).toBeUndefined();
    expect(percentile([4, 1, 3, 2], 50)).toBe(2);
    expect(percentile([4, 1, 3, 2], 95)).toBe(4);
  });
});

describe("a choice", () => {
  const grid = joined(undefined, answer([instance(1, "sf."), instance(2, "sfu"), instance(3, "sss")]), "newest");
  const shown = { grid, rows: [0, 1, 2], columns: grid.columns };

  it("is written into an address and read again", () => {
    const choice = new Set([cellKey("12", "load dim"), cellKey("7", "抽取.v2-a_b"), cellKey("12", "extract")]);
    expect(written(choice)).toBe("12:load dim,extract;7:抽取.v2-a_b");
    expect(chosenIn(written(choice))).toEqual(choice);
    expect(written(nothing)).toBeUndefined();
    expect(chosenIn(undefined).size).toBe(0);
    // What a hand has written wrongly is left out, and what is too long for an address stays in the page.
    expect(chosenIn("x:a;0:a;;9;8:,b,;12:load")).toEqual(new Set([cellKey("8", "b"), cellKey("12", "load")]));
    expect(written(new Set(Array.from({ length: 200 }, (_, i) => cellKey("1", `a task ${i}`))))).toBeUndefined();
  });

  it("is a rectangle between two corners, without blanks", () => {
    const choice = rectangle(shown, { row: 2, column: 1 }, { row: 1, column: 0 });
    expect([...choice].sort()).toEqual([cellKey("1", "b"), cellKey("2", "b"), cellKey("2", "c")]);
    expect(keyAt(shown, { row: 2, column: 0 })).toBeUndefined();
  });

  it("names tasks with blanks in their names", () => {
    const one = toggled(nothing, cellKey("2", "load dim"));
    expect(byInstance({ ...grid, rows: ["load dim"] }, one)).toEqual([{ id: "2", tasks: ["load dim"] }]);
    expect(toggled(one, cellKey("2", "load dim")).size).toBe(0);
  });

  it("is gathered by instance in the order of columns and rows", () => {
    const choice = new Set([cellKey("3", "c"), cellKey("1", "b"), cellKey("3", "a")]);
    expect(byInstance(grid, choice)).toEqual([
      { id: "1", tasks: ["b"] },
      { id: "3", tasks: ["a", "c"] },
    ]);
  });

  it("is walked to by keys, into both heads and not beyond", () => {
    const size = { rows: 3, columns: 3 };
    expect(walked({ row: 0, column: 0 }, "ArrowUp", false, size)).toEqual({ row: -1, column: 0 });
    expect(walked({ row: -1, column: 0 }, "ArrowLeft", false, size)).toEqual({ row: -1, column: 0 });
    expect(walked({ row: 1, column: 2 }, "ArrowRight", false, size)).toEqual({ row: 1, column: 2 });
    expect(walked({ row: 1, column: 1 }, "End", true, size)).toEqual({ row: 2, column: 2 });
    expect(walked({ row: 1, column: 1 }, "PageDown", false, size)).toEqual({ row: 2, column: 1 });
    expect(walked({ row: 1, column: 1 }, "x", false, size)).toBeUndefined();
  });
});
