import { expect, it } from "vitest";
import { holds, partOf, sightOf, tasksIn } from "./part";
import { defaults } from "./shape";

const box = { width: 1000, height: 600 };
const task = (name: string, ...needs: string[]) => ({ name, needs });

it("holds all that the camera sees, and stays the same until the screen comes near its border", () => {
  let part = partOf(sightOf({ x: 0, y: 0, zoom: 0.8 }, box));
  let changes = 0;
  for (let x = 0; x >= -6000; x -= 60) {
    const seen = sightOf({ x, y: x / 2, zoom: 0.8 }, box);
    // What was there before is enough for this step: the new part may be a moment late.
    expect(holds(part, seen)).toBe(true);
    const next = partOf(seen, part);
    if (next !== part) changes++;
    part = next;
    expect(holds(part, seen)).toBe(true);
  }
  expect(changes).toBeGreaterThan(3);
  expect(changes).toBeLessThan(15);
});

it("is made smaller when the camera comes nearer", () => {
  const all = partOf(sightOf({ x: 0, y: 0, zoom: 0.1 }, box));
  expect(partOf(sightOf({ x: 0, y: 0, zoom: 1 }, box), all).width).toBeLessThan(all.width / 2);
});

it("gives the tasks in the part, and both ends of an edge that only crosses it", () => {
  const tasks = [
    task("left"),
    task("here"),
    task("beyond", "left"),
    task("below", "beyond"),
    task("far", "ghost"),
    task("nowhere", "here"),
  ];
  const points = {
    left: { x: -5000, y: 100 },
    here: { x: 100, y: 200 },
    beyond: { x: 5000, y: 100 },
    below: { x: 5000, y: 9000 },
    far: { x: 9000, y: 9000 },
  };
  const got = tasksIn(tasks, points, defaults.size, { x: 0, y: 0, width: 1000, height: 600 });
  expect(got.map((t) => t.name)).toEqual(["left", "here", "beyond"]);
});
