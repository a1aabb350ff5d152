import { describe, expect, it } from "vitest";
import { defaults, layoutAll, type Points } from "./layout";
import { beside, centre, fitAll, near, nudged, opening, readable, sees } from "./view";
import { Walker } from "./walk";

const { size } = defaults;
const box = { width: 1000, height: 600 };

function chain(count: number): Points {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`t${i}`, { x: i * 264, y: 0 }]));
}

describe("a graph opens", () => {
  it("with all of it where that can be read", () => {
    const camera = opening(chain(4), size, box, "t3");
    expect(camera).toEqual(fitAll(chain(4), size, box));
    expect(camera.zoom).toBeGreaterThanOrEqual(readable);
    for (const p of Object.values(chain(4))) expect(sees(camera, p, size, box)).toBe(true);
  });

  it("on the task that matters where not, and never smaller than can be read", () => {
    const points = chain(400);
    const camera = opening(points, size, box, "t200");
    expect(camera.zoom).toBe(near);
    expect(camera.x).toBe(centre(points.t200 ?? { x: 0, y: 0 }, size, box, near).x);
    expect(sees(camera, points.t200 ?? { x: 0, y: 0 }, size, box)).toBe(true);
  });

  it("with the first task at the left edge instead of half an empty screen", () => {
    const camera = opening(chain(400), size, box, "t0");
    expect(camera.x).toBe(24);
    expect(opening(chain(400), size, box, undefined).x).toBe(24);
    expect(opening({}, size, box, undefined).zoom).toBe(1);
  });

  it("not on all of 301 tasks, however small", () => {
    const dots = Object.fromEntries(Array.from({ length: 301 }, (_, i) => [`t${i}`, { x: i % 3, y: 0 }]));
    expect(opening(dots, size, box, "t0").zoom).toBe(near);
  });
});

describe("the arrow keys", () => {
  const tasks = [
    { name: "a", needs: [] },
    { name: "b", needs: ["a"] },
    { name: "c", needs: ["a"] },
    { name: "d", needs: ["b", "c"] },
  ];
  it("follow edges one way and siblings the other, in both directions of a layout", () => {
    for (const [direction, on, back, down] of [
      ["LR", "ArrowRight", "ArrowLeft", "ArrowDown"],
      ["TB", "ArrowDown", "ArrowUp", "ArrowRight"],
    ] as const) {
      const points = layoutAll(tasks, { direction });
      const walker = new Walker(tasks, points, size, direction);
      const first = walker.go("a", on) ?? "";
      const [upper, lower] = ["b", "c"].sort((x, y) =>
        direction === "LR" ? (points[x]?.y ?? 0) - (points[y]?.y ?? 0) : (points[x]?.x ?? 0) - (points[y]?.x ?? 0),
      );
      expect(["b", "c"]).toContain(first);
      expect(walker.go(first, on)).toBe("d");
      expect(walker.go(first, back)).toBe("a");
      expect(walker.go(upper ?? "", down)).toBe(lower);
      expect(walker.go(lower ?? "", down)).toBeUndefined();
      expect(walker.go("d", on)).toBeUndefined();
    }
  });
});

it("a task is beside the screen up to one screen away, on every side", () => {
  const camera = { x: 0, y: 0, zoom: 1 };
  for (const p of [
    { x: 100, y: 100 },
    { x: 1700, y: 0 },
    { x: -900, y: 0 },
    { x: 0, y: 1100 },
  ])
    expect(beside(camera, p, size, box)).toBe(true);
  for (const p of [
    { x: 2100, y: 0 },
    { x: -1100, y: 0 },
    { x: 0, y: 1300 },
    { x: 0, y: -700 },
  ])
    expect(beside(camera, p, size, box)).toBe(false);
});

it("the camera moves as little as it takes for a task to be on the screen, and not at all for one that is well within", () => {
  const room = { width: 1000, height: 500 };
  const camera = { x: 0, y: 0, zoom: 1 };
  expect(nudged(camera, { x: 400, y: 220 }, size, room)).toEqual(camera);
  for (const p of [
    { x: 950, y: 220 },
    { x: -150, y: 220 },
    { x: 400, y: 480 },
    { x: 400, y: -300 },
  ]) {
    const moved = nudged(camera, p, size, room);
    expect(sees(moved, p, size, room)).toBe(true);
    expect(Number(moved.x !== 0) + Number(moved.y !== 0)).toBe(1);
    expect(Math.abs(moved.x) + Math.abs(moved.y)).toBeLessThan(600);
  }
  // In a box that is smaller than a node it is centred.
  expect(nudged(camera, { x: 400, y: 220 }, size, { width: 100, height: 40 }).x).toBe(-450);
});
