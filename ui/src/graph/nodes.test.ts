import { expect, it } from "vitest";
import { read } from "../domain/document/read";
import { rulesOf } from "../domain/graph/rules";
import { defaults, type Points } from "../domain/graph/shape";
import { branchWords } from "./branch";
import { type DrawnTask, edgeKind, focusOf, keptEdges, keptNodes, type NodeState, type View } from "./nodes";
import { readRules } from "./readRules";

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
    rules: undefined,
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

const rules = rulesOf(
  read(`tasks:
  - name: a
    cases: [{when: "rows > 1000 && region == 'eu'", then: [b]}, {when: x, then: []}]
    else: [c]
  - {name: b, needs: [a], when: x > 1, join: one_failed}
  - {name: c, needs: [a, b], finally: true, join: all_success}
`).model.tasks,
);

it("puts a branch's words on its edge, as long as there is room for, and marks what has a rule of its own", () => {
  const far = { ...points, b: { x: 400, y: 0 } };
  const edges = (more: Partial<View>) => keptEdges(tasks, view({}, { rules, ...more }), new Map());
  expect(edges({}).get("a>b")?.label).toBe("1");
  expect(edges({ points: far }).get("a>b")?.label).toBe("1: rows > 1000 && region == '…");
  expect(edges({}).get("b>c")?.label).toBeUndefined();
  const own = keptNodes(tasks, view({}, { rules }), new Map());
  expect([own.get("b")?.data.gate, own.get("b")?.data.last]).toEqual(["join: one_failed\nwhen: x > 1", false]);
  expect([own.get("c")?.data.gate, own.get("c")?.data.last]).toEqual([undefined, true]);
});

it("makes anew just the nodes and edges that have rules, once these are known", () => {
  const nodes = keptNodes(tasks, view({}), new Map());
  const edges = keptEdges(tasks, view({}), new Map());
  const next = keptNodes(tasks, view({}, { rules }), nodes);
  const lines = keptEdges(tasks, view({}, { rules }), edges);
  expect(["a", "b", "c"].filter((n) => next.get(n) !== nodes.get(n))).toEqual(["b", "c"]);
  expect(["a>b", "b>c"].filter((n) => lines.get(n) !== edges.get(n))).toEqual(["a>b"]);
});

it("names several cases of one edge, and else", () => {
  const branch = { cases: [1, 3], other: true, when: "" };
  expect(branchWords(branch, 500)).toBe("1, 3, else");
  expect(branchWords({ cases: [2], other: false, when: "x" }, 500)).toBe("2: x");
  expect(branchWords({ cases: [], other: true, when: "" }, 0)).toBe("else");
});

it("reads a text's rules, and no text that has none", async () => {
  expect((await readRules("tasks:\n  - {name: a, finally: true}\n"))?.last).toEqual(new Set(["a"]));
  expect((await readRules('{"tasks": [{"name": "a", "when": "x"}]}'))?.gates.get("a")).toBe("when: x");
  expect(await readRules("tasks:\n  - {name: a, type: noop}\n")).toBeNull();
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

it("draws what undoes a task by a sign of its own, whatever its type is, and the edge to it apart", () => {
  const saga: DrawnTask[] = [...tasks, { name: "a:compensate", type: "shell", needs: ["a"], retries: 0 }];
  const shown = view({ a: "success" }, { points: { ...points, "a:compensate": { x: 264, y: 80 } } });
  expect(keptNodes(saga, shown, new Map()).get("a:compensate")?.data.type).toBe("compensate");
  expect(keptNodes(saga, shown, new Map()).get("a")?.data.type).toBe("shell");
  const edges = keptEdges(saga, shown, new Map());
  expect(edges.get("a>a:compensate")?.className).toContain("edge-undo");
  expect(edges.get("a>b")?.className).not.toContain("edge-undo");
});
