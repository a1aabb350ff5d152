import { describe, expect, it } from "vitest";
import { read } from "../../domain/document/read";
import type { Illegal } from "../../domain/graph/model";
import { rulesOf } from "../../domain/graph/rules";
import { type Drawing, EdgeCache, endsOf, type Look, NodeCache } from "./nodes";
import { narrowed } from "./PickList";
import { shift } from "./useReveal";

const text =
  "tasks:\n  - name: a\n    type: noop\n  - name: b\n    type: noop\n    needs: [a]\n  - name: a\n    type: shell\n  - type: noop\n";
const { tasks } = read(text).model;
const points = { a: { x: 0, y: 0 }, b: { x: 300, y: 0 } };
const look: Look = {
  points,
  direction: "LR",
  chosen: new Set(),
  problems: () => 0,
  illegal: undefined,
  locked: false,
  states: undefined,
  rules: rulesOf(tasks),
  label: (t) => t.name,
  role: "task",
};

describe("the canvas' nodes", () => {
  it("are one per name that has a place", () => {
    expect(new NodeCache().nodes(tasks, look).map((n) => [n.id, n.data.type])).toEqual([
      ["a", "noop"],
      ["b", "noop"],
    ]);
  });

  it("stay the same objects but for what has changed", () => {
    const cache = new NodeCache();
    const [a, b] = cache.nodes(tasks, look);
    const next = cache.nodes(tasks, { ...look, chosen: new Set(["b"]), problems: (n) => (n === "b" ? 2 : 0) });
    expect(next[0]).toBe(a);
    expect(next[1]).not.toBe(b);
    expect(next[1]).toMatchObject({ selected: true, data: { problems: 2 } });
    const illegal = new Map<string, Illegal>([["a", "cycle"]]);
    expect(cache.nodes(tasks, { ...look, illegal })[0]?.data.illegal).toBe("cycle");
    expect(cache.nodes(tasks, { ...look, direction: "TB" })[0]?.sourcePosition).toBe("bottom");
  });

  it("have one edge per need, with the ends in its id", () => {
    const cache = new EdgeCache();
    const none: Drawing = { points, direction: "LR", rules: look.rules, chosen: new Set(), target: undefined };
    const edges = cache.edges(tasks, none);
    expect(edges.map((e) => e.id)).toEqual(["a>b"]);
    expect(cache.edges(tasks, none)[0]).toBe(edges[0]);
    expect(cache.edges(tasks, { ...none, target: "a>b" })[0]?.className).toContain("edge-target");
    expect(endsOf("a>b c")).toEqual({ from: "a", to: "b c" });
  });
});

describe("a list to pick from", () => {
  it("shows what begins with the text first, and what is refused last", () => {
    const choices = [
      { value: "1", label: "old load" },
      { value: "2", label: "load", refused: "cycle" },
      { value: "3", label: "load_fact" },
      { value: "4", label: "other" },
    ];
    expect(narrowed(choices, "Load").map((c) => c.value)).toEqual(["3", "1", "2"]);
  });
});

describe("the view", () => {
  it("moves no further than it takes", () => {
    expect(shift(50, 100, 32, 400)).toBe(0);
    expect(shift(10, 100, 32, 400)).toBe(22);
    expect(shift(350, 100, 32, 400)).toBe(-50);
    expect(shift(10, 900, 32, 400)).toBe(22);
  });
});
