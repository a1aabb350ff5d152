import { describe, expect, it } from "vitest";
import { defaults, type Points } from "../../domain/graph/layout";
import { Arranger, beside, directionOf, makeRoom } from "./arrange";
import { snap } from "./snap";

const { size, gap } = defaults;
const step = size.width + gap.width;

function overlapping(points: Points): boolean {
  const all = Object.values(points);
  return all.some((p, i) => all.some((q, j) => j > i && Math.abs(p.x - q.x) < size.width && Math.abs(p.y - q.y) < size.height));
}

describe("the arranger", () => {
  const tasks = [
    { name: "a", needs: [] },
    { name: "b", needs: ["a"] },
    { name: "c", needs: ["a"] },
  ];

  it("lets saved places win, and puts new tasks beside those they need", () => {
    const { points, drawn, missing } = new Arranger().arrange(tasks, { a: { x: 500, y: 70 } }, "LR");
    expect(missing).toBe(0);
    expect(points.a).toEqual({ x: 500, y: 70 });
    expect(points.b?.x).toBe(500 + step);
    expect(Object.keys(drawn)).toEqual(["b", "c"]);
    expect(overlapping(points)).toBe(false);
  });

  it("keeps a task where it stood when it goes, comes back, or gets another name", () => {
    const arranger = new Arranger();
    const first = arranger.arrange(tasks, {}, "LR").points;
    arranger.arrange(tasks.slice(0, 2), {}, "LR");
    expect(arranger.arrange(tasks, {}, "LR").points).toEqual(first);
    const renamed = tasks.map((t) => (t.name === "c" ? { ...t, name: "see" } : t));
    expect(arranger.arrange(renamed, {}, "LR").points.see).toEqual(first.c);
  });

  it("leaves a crowd to the worker, and takes its answer", () => {
    const crowd = Array.from({ length: 300 }, (_, i) => ({ name: `t${i}`, needs: [] }));
    const arranger = new Arranger();
    expect(arranger.arrange(crowd, {}, "LR").missing).toBe(300);
    arranger.take(Object.fromEntries(crowd.map((t, i) => [t.name, { x: 0, y: 100 * i }])));
    expect(arranger.arrange(crowd, {}, "LR")).toMatchObject({ missing: 0, points: { t3: { x: 0, y: 300 } } });
  });
});

describe("places", () => {
  it("tell which way a canvas runs, and keep what was where they do not", () => {
    const tasks = [
      { name: "a", needs: [] },
      { name: "b", needs: ["a"] },
    ];
    expect(directionOf(tasks, { a: { x: 0, y: 0 }, b: { x: 10, y: 120 } }, "LR")).toBe("TB");
    expect(directionOf(tasks, { a: { x: 0, y: 0 }, b: { x: step, y: 0 } }, "TB")).toBe("LR");
    expect(directionOf(tasks, {}, "TB")).toBe("TB");
  });

  it("make room between two tasks, and only as much as it takes", () => {
    const points = { a: { x: 0, y: 0 }, b: { x: step, y: 0 }, far: { x: 3 * step, y: 200 }, left: { x: 0, y: 300 } };
    const room = makeRoom(points, "a", "b", "LR");
    expect(room.at).toEqual({ x: step, y: 0 });
    expect(room.moves).toEqual({ b: { x: 2 * step, y: 0 }, far: { x: 4 * step, y: 200 } });
    expect(overlapping({ ...points, ...room.moves, mid: room.at })).toBe(false);
    expect(makeRoom(points, "a", "far", "LR")).toEqual({ at: { x: 1.5 * step, y: 100 }, moves: {} });
  });

  it("put a pasted group where it overlaps nothing, in its own shape", () => {
    const points = { a: { x: 0, y: 0 }, b: { x: 0, y: 80 } };
    const group = { x: { x: 1000, y: 1000 }, y: { x: 1000 + step, y: 1000 } };
    const placed = beside(points, group, { x: 10, y: 10 });
    expect(overlapping({ ...points, ...placed })).toBe(false);
    expect((placed.y?.x ?? 0) - (placed.x?.x ?? 0)).toBe(step);
    expect(placed.x?.x).toBe(10);
  });
});

describe("snap lines", () => {
  it("take the nearest line within reach, and none beyond", () => {
    const others = [
      { x: 100, y: 50 },
      { x: 104, y: 300 },
    ];
    expect(snap({ x: 103, y: 58 }, others, 6)).toEqual({ at: { x: 104, y: 58 }, x: 104 });
    expect(snap({ x: 120, y: 54 }, others, 6)).toEqual({ at: { x: 120, y: 50 }, y: 50 });
    expect(snap({ x: 200, y: 200 }, others, 6)).toEqual({ at: { x: 200, y: 200 } });
  });
});
