import { expect, it } from "vitest";
import { defaults, type Points } from "../domain/graph/shape";
import { type DrawnTask, edgeKind, focusOf, keptEdges, keptNodes, type NodeState, type View } from "./nodes";

const tasks: DrawnTask[] = [
  { name: "a", type: "shell", needs: [], retries: 2 },
  { name: "b", type: "noop", needs: ["a", "ghost"], retries: 0 },
  { name: "c", type: "noop", needs: ["b"], retries: 0 },
];
const points: Points = { a: { x: 0, y: 0 }, b: { x: 264, y: 0 }, c: { x: 528, y: 0 } };

function view(states: Record<string, string>, more: Partial<View> = {}): View {
  return {
    points,
    size: defaults.size,
    direction: "LR",
    states: new Map(Object.entries(states).map(([name, state]) => [name, { state }])),
    bright: undefined,
    label: (task) => task.name,
    ...more,
  };
}

it("keeps a node whose state did not change the same object, and the edges that none of their ends touched", () => {
  const before = view({ a: "success", b: "running", c: "waiting" });
  const nodes = keptNodes(tasks, before, new Map());
  const edges = keptEdges(tasks, before, new Map());
  const after = view({ a: "success", b: "success", c: "waiting" });
  const next = keptNodes(tasks, after, nodes);
  const lines = keptEdges(tasks, after, edges);
  expect(["a", "b", "c"].map((n) => next.get(n) === nodes.get(n))).toEqual([true, false, true]);
  expect(["a>b", "b>c"].map((e) => lines.get(e) === edges.get(e))).toEqual([true, false]);
  expect(next.get("a")?.data.of).toBe(3);
});

it("makes anew what is dimmed or moved", () => {
  const before = view({ a: "success", b: "failed", c: "waiting" });
  const nodes = keptNodes(tasks, before, new Map());
  const changed = (more: Partial<View>) => {
    const next = keptNodes(tasks, { ...before, ...more }, nodes);
    return ["a", "b", "c"].filter((n) => next.get(n) !== nodes.get(n));
  };
  expect(changed({})).toEqual([]);
  expect(changed({ bright: new Set(["b"]) })).toEqual(["a", "c"]);
  expect(changed({ points: { ...points, a: { x: 1, y: 0 } } })).toEqual(["a"]);
});

it("draws no edge to a task that is not there, nor a node without a place", () => {
  expect([...keptEdges(tasks, view({}), new Map()).keys()]).toEqual(["a>b", "b>c"]);
  expect([...keptNodes(tasks, view({}, { points: { a: { x: 0, y: 0 } } }), new Map()).keys()]).toEqual(["a"]);
});

it("draws an edge by the states of its ends", () => {
  expect(edgeKind(undefined, undefined)).toBe("");
  expect(edgeKind("success", "waiting")).toBe("done");
  expect(edgeKind("skipped", "running")).toBe("done");
  expect(edgeKind("running", "waiting")).toBe("");
  expect(edgeKind("failed", "upstream_failed")).toBe("blocked");
  expect(edgeKind("success", "upstream_failed")).toBe("idle");
  expect(edgeKind("success", "skipped")).toBe("idle");
  expect(edgeKind("", "waiting")).toBe("");
});

it("opens at what failed, then at what runs, then at the first task", () => {
  const states = (s: Record<string, string>) => new Map<string, NodeState>(Object.entries(s).map(([n, state]) => [n, { state }]));
  expect(focusOf(tasks, states({ a: "success", b: "running", c: "failed" }))).toBe("c");
  expect(focusOf(tasks, states({ a: "success", b: "running", c: "waiting" }))).toBe("b");
  expect(focusOf(tasks, states({ a: "success", b: "success", c: "success" }))).toBe("a");
  expect(focusOf([], undefined)).toBeUndefined();
});
