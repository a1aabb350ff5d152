import { expect, it } from "vitest";
import { mirrorOf, reflect } from "./mirror";
import { towards } from "./shape";

const undo = (of: string) => ({ name: `${of}:compensate`, needs: [of] });
const tasks = [
  { name: "reserve", needs: [] },
  undo("reserve"),
  { name: "note", needs: ["reserve"] },
  { name: "pay", needs: ["note"] },
  undo("pay"),
  { name: "pack", needs: ["note"] },
  undo("pack"),
  { name: "ship", needs: ["pay", "pack"] },
];

const linked = (name: string) => mirrorOf(tasks).all.find((x) => x.name === name)?.needs;

it("leaves a graph in which nothing undoes as it is", () => {
  const plain = tasks.filter((x) => !x.name.includes(":"));
  expect(mirrorOf(plain).forward).toBe(plain);
  expect(mirrorOf(plain).all).toBe(plain);
});

it("links what undoes a task back from what undoes the nearest ones after it", () => {
  expect(mirrorOf(tasks).forward.map((x) => x.name)).toEqual(["reserve", "note", "pay", "pack", "ship"]);
  expect(linked("pay:compensate")).toEqual(["pay"]);
  // Past the task between them that nothing undoes.
  expect(linked("reserve:compensate")).toEqual(["reserve", "pay:compensate", "pack:compensate"]);
});

it("ends at a circle, which a draft may have", () => {
  expect(mirrorOf([{ name: "a", needs: ["b"] }, { name: "b", needs: ["a"] }, undo("a")]).undone.size).toBe(1);
});

const places = { reserve: { x: 0, y: 0 }, note: { x: 264, y: 0 }, pay: { x: 528, y: 0 }, pack: { x: 528, y: 76 }, ship: { x: 792, y: 10 } };

it("puts the mirror straight below the work, what stands nearest to the border first", () => {
  const { points, band } = reflect(places, mirrorOf(tasks).undone, towards("LR"));
  const [reserve, pay, pack] = ["reserve", "pay", "pack"].map((x) => points[`${x}:compensate`]);
  expect([reserve?.x, pay?.x, pack?.x]).toEqual([0, 528, 528]);
  expect(pack?.y).toBeGreaterThan(76 + 52);
  expect(pay?.y).toBe((pack?.y ?? 0) + 76);
  expect(reserve?.y).toBe(pay?.y);
  expect(band && band.y > 76 + 52 && band.y < (pack?.y ?? 0)).toBe(true);
});

it("puts it beside a graph that runs down, and nothing where nothing undoes", () => {
  const { points } = reflect(places, mirrorOf(tasks).undone, towards("TB"));
  expect(points["pay:compensate"]?.y).toBe(0);
  expect(points["pay:compensate"]?.x).toBeGreaterThan(792 + 200);
  expect(reflect(places, new Map(), towards("LR"))).toEqual({ points: places, band: undefined });
});
