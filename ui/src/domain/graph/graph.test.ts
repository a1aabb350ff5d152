import { describe, expect, it } from "vitest";
import { Random } from "../document/random";
import { boundsOf, HitGrid } from "./hit";
import { defaults, layoutAll, type Points, placeNew } from "./layout";
import { findCycle, findPath, type GraphTask, graphOf, illegalTargets } from "./model";

function randomTasks(count: number, edges: number, seed: number): GraphTask[] {
  const r = new Random(seed);
  const tasks = Array.from({ length: count }, (_, i) => ({ name: `t${i}`, needs: [] as string[] }));
  for (let e = 0; e < edges; e++) {
    const to = 1 + r.below(count - 1);
    const from = Math.max(0, to - 1 - r.below(60));
    if (!tasks[to]?.needs.includes(`t${from}`)) tasks[to]?.needs.push(`t${from}`);
  }
  return tasks;
}

function overlaps(points: Points): number {
  const grid = new HitGrid(points, defaults.size);
  const { width, height } = defaults.size;
  return Object.entries(points).filter(([name, p]) =>
    grid.within({ x: p.x + 1, y: p.y + 1, width: width - 2, height: height - 2 }).some((n) => n !== name),
  ).length;
}

function backwards(tasks: readonly GraphTask[], points: Points): number {
  return graphOf(tasks).edges.filter((e) => (points[e.from]?.x ?? 0) >= (points[e.to]?.x ?? 0)).length;
}

describe("the graph", () => {
  it("draws known needs once and lists the others as dangling", () => {
    const graph = graphOf([
      { name: "a", needs: [] },
      { name: "b", needs: ["a", "a", "x"] },
      { name: "a", needs: [] },
    ]);
    expect(graph.nodes).toEqual(["a", "b"]);
    expect(graph.edges.map((e) => e.id)).toEqual(["a>b"]);
    expect(graph.dangling.map((e) => e.from)).toEqual(["x"]);
  });

  it("names the way round before a cycle is made, and dims just the targets that an edge may not reach", () => {
    const tasks = [
      { name: "a", needs: [] },
      { name: "b", needs: ["a"] },
      { name: "c", needs: ["b"] },
      { name: "d", needs: [] },
    ];
    expect(findPath(tasks, "a", "c")).toEqual(["a", "b", "c"]);
    expect(findPath(tasks, "c", "a")).toBeUndefined();
    expect([...illegalTargets(tasks, "b")].sort()).toEqual([
      ["a", "cycle"],
      ["b", "self"],
      ["c", "duplicate"],
    ]);
  });

  it("finds a cycle with its members in order, and none in a graph that has none", () => {
    expect(
      findCycle([
        { name: "a", needs: ["c"] },
        { name: "b", needs: ["a"] },
        { name: "c", needs: ["b"] },
        { name: "d", needs: ["c"] },
      ]),
    ).toEqual(["a", "b", "c", "a"]);
    expect(findCycle([{ name: "a", needs: ["a"] }])).toEqual(["a", "a"]);
    expect(findCycle(randomTasks(200, 400, 3))).toBeUndefined();
  });
});

describe("a layout", () => {
  it("has no overlap and no edge that runs back, by dagre and by the sweep", () => {
    for (let seed = 1; seed <= 8; seed++) {
      const tasks = randomTasks(120, 180, seed);
      for (const dagreMax of [0, 1500]) {
        const points = layoutAll(tasks, { dagreMax });
        expect([overlaps(points), backwards(tasks, points)], `seed ${seed} dagreMax ${dagreMax}`).toEqual([0, 0]);
      }
    }
    // Dagre takes half a second here; a machine with other work takes many times that.
  }, 30_000);

  it("of 2,000 tasks and 3,000 edges is whole, and its time is printed", () => {
    const tasks = randomTasks(2000, 3000, 1);
    const from = performance.now();
    const points = layoutAll(tasks);
    console.info(`layout of 2,000 tasks: ${Math.round(performance.now() - from)} ms`);
    expect([Object.keys(points).length, overlaps(points), backwards(tasks, points)]).toEqual([2000, 0, 0]);
  });

  it("survives cycles, no tasks, and runs from top to bottom", () => {
    const loop = [
      { name: "a", needs: ["b"] },
      { name: "b", needs: ["a"] },
      { name: "c", needs: ["b"] },
    ];
    for (const dagreMax of [0, 1500]) {
      expect(Object.keys(layoutAll(loop, { dagreMax }))).toHaveLength(3);
      expect(layoutAll([], { dagreMax })).toEqual({});
      const down = layoutAll(
        [
          { name: "a", needs: [] },
          { name: "b", needs: ["a"] },
        ],
        { direction: "TB", dagreMax },
      );
      expect(down.b?.y).toBeGreaterThan(down.a?.y ?? 0);
    }
  });

  it("puts what comes last beyond all others, in both directions, and beside what stands", () => {
    const tasks: GraphTask[] = [
      { name: "a", needs: [] },
      { name: "tidy", needs: ["a"], finally: true },
      { name: "b", needs: ["a"] },
      { name: "tell", needs: ["tidy"], finally: true },
      { name: "other", needs: [], finally: true },
    ];
    for (const dagreMax of [0, 1500]) {
      const right = layoutAll(tasks, { dagreMax });
      const down = layoutAll(tasks, { direction: "TB", dagreMax });
      expect(overlaps(right) + overlaps(down)).toBe(0);
      for (const name of ["tidy", "tell", "other"]) {
        expect(right[name]?.x).toBeGreaterThan((right.b?.x ?? 0) + defaults.size.width);
        expect(down[name]?.y).toBeGreaterThan((down.b?.y ?? 0) + defaults.size.height);
      }
      expect(right.tell?.x).toBeGreaterThan(right.tidy?.x ?? 0);
    }
    const fresh = placeNew(tasks, { a: { x: 0, y: 0 }, b: { x: 264, y: 0 } });
    expect(fresh.tidy?.x).toBeGreaterThan(264 + defaults.size.width);
    expect(fresh.other?.x).toBe(fresh.tidy?.x);
    expect(fresh.tell?.x).toBeGreaterThan(fresh.tidy?.x ?? 0);
    expect(Object.keys(layoutAll(tasks.filter((t) => t.finally)))).toHaveLength(3);
  });

  it("places only new tasks, right of their parent and on nobody's place", () => {
    const standing = { a: { x: 37, y: 11 }, c: { x: 301, y: 11 } };
    const tasks = [
      { name: "a", needs: [] },
      { name: "c", needs: ["a"] },
      { name: "n", needs: ["a"] },
      { name: "m", needs: ["n"] },
      { name: "alone", needs: [] },
    ];
    const fresh = placeNew(tasks, standing);
    expect(Object.keys(fresh).sort()).toEqual(["alone", "m", "n"]);
    expect(fresh.n?.x).toBe(37 + 264);
    expect(fresh.m?.x).toBe(37 + 528);
    expect(overlaps({ ...standing, ...fresh })).toBe(0);
    expect(placeNew(tasks, { ...standing, ...fresh })).toEqual({});
  });
});

describe("the hit grid", () => {
  it("finds what a search of all nodes finds", () => {
    const r = new Random(5);
    const size = { width: 20, height: 10 };
    const points = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`n${i}`, { x: r.below(400) - 200, y: r.below(200) - 100 }]));
    const grid = new HitGrid(points, size);
    for (let i = 0; i < 500; i++) {
      const p = { x: r.below(480) - 240, y: r.below(280) - 140 };
      const inside = Object.entries(points).filter(([, q]) => q.x <= p.x && p.x <= q.x + 20 && q.y <= p.y && p.y <= q.y + 10);
      expect(grid.at(p)).toBe(inside.at(-1)?.[0]);
      const rect = { ...p, width: r.below(90), height: r.below(90) };
      const touched = Object.entries(points).filter(
        ([, q]) => q.x <= p.x + rect.width && q.x + 20 >= p.x && q.y <= p.y + rect.height && q.y + 10 >= p.y,
      );
      expect(grid.within(rect)).toEqual(touched.map(([name]) => name));
    }
    expect(grid.within({ x: -1e9, y: -1e9, width: 2e9, height: 2e9 })).toHaveLength(300);
    expect(grid.at({ x: 5000, y: 0 }, 6000)).toBeDefined();
    expect(boundsOf({}, size)).toEqual({ x: 0, y: 0, width: 0, height: 0 });
  });
});
