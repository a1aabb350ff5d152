import { expect, it } from "vitest";
import { joined } from "./joined";

const task = (name: string, ...needs: string[]) => ({ name, needs, type: "noop", retries: 0 });

it("draws both versions as one, each task and edge once, with what differs marked", () => {
  const diff = {
    tasks: { added: ["c"], removed: ["b"], changed: [{ task: "a", fields: [] }] },
    edges: { added: [{ from: "a", to: "c" }], removed: [{ from: "a", to: "b" }] },
  };
  const all = joined([task("a"), task("b", "a"), task("d", "a")], diff, [task("a"), task("c", "a"), task("d", "a")]);
  expect(all.map((t) => [t.name, t.mark, t.needs, [...(t.edgeMarks ?? [])]])).toEqual([
    ["a", "changed", [], []],
    ["b", "removed", ["a"], [["a", "removed"]]],
    ["d", undefined, ["a"], []],
    ["c", "added", ["a"], [["a", "added"]]],
  ]);
});

it("draws a draft's new tasks by what the comparison knows of them", () => {
  const diff = { tasks: { added: ["n"], removed: [], changed: [] }, edges: { added: [{ from: "a", to: "n" }], removed: [] } };
  expect(joined([task("a")], diff).map((t) => [t.name, t.mark, t.needs])).toEqual([
    ["a", undefined, []],
    ["n", "added", ["a"]],
  ]);
});
