import { describe, expect, it } from "vitest";
import { byDagre, nodeHeight, nodeWidth, place, type Shape, sweep } from "./layout";

const diamond: Shape[] = [
  { name: "a", needs: [] },
  { name: "b", needs: ["a"] },
  { name: "c", needs: ["a"] },
  { name: "d", needs: ["b", "c"] },
];

function grid(columns: number, rows: number): Shape[] {
  return Array.from({ length: columns * rows }, (_, i) => {
    const [x, y] = [Math.floor(i / rows), i % rows];
    return { name: `t${x}.${y}`, needs: x === 0 ? [] : [`t${x - 1}.${y}`, `t${x - 1}.${(y + 1) % rows}`] };
  });
}

function overlaps(places: Record<string, { x: number; y: number }>): number {
  const all = Object.values(places);
  return all.filter((p, i) => all.some((q, j) => j > i && Math.abs(p.x - q.x) < nodeWidth && Math.abs(p.y - q.y) < nodeHeight)).length;
}

describe.each([
  ["dagre", byDagre],
  ["the sweep", sweep],
])("a layout by %s", (_, layout) => {
  it("puts every task right of all that it needs", () => {
    for (const tasks of [diamond, grid(5, 6)]) {
      const places = layout(tasks);
      for (const t of tasks)
        for (const n of t.needs) expect(places[t.name]?.x, `${n} -> ${t.name}`).toBeGreaterThan(places[n]?.x ?? Number.NaN);
    }
  });
  it("lets no two nodes overlap", () => expect(overlaps(layout(grid(6, 8)))).toBe(0));
  it("is the same each time", () => expect(layout(diamond)).toEqual(layout(diamond)));
});

describe("place", () => {
  it("survives a need that is not there and a cycle", () => {
    expect(
      Object.keys(
        sweep([
          { name: "a", needs: ["ghost"] },
          { name: "b", needs: ["c"] },
          { name: "c", needs: ["b"] },
        ]),
      ),
    ).toHaveLength(3);
  });
  it("has 2,000 tasks done by the sweep within a second", () => {
    const start = performance.now();
    expect(Object.keys(place(grid(40, 50)))).toHaveLength(2000);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});
