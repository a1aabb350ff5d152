import { expect, it } from "vitest";
import { labelsOf, nodesOf, waysAt } from "./lineage";

const lineage = {
  workflows: [
    { project: "a", workflow: "load" },
    { project: "a", workflow: "report" },
    { project: "b", workflow: "mail" },
  ],
  edges: [
    { from: 0, to: 1, kind: "dependent" as const, name: "wait" },
    { from: 0, to: 1, kind: "schedule" as const, name: "after load" },
    { from: 1, to: 1, kind: "sub_workflow" as const, name: "again" },
    { from: 1, to: 2, kind: "sub_workflow" as const, name: "send" },
  ],
  cut: false,
};

it("two ways between two workflows are one edge of the graph, and a way to itself is none", () => {
  expect(nodesOf(lineage).map((n) => [n.name, n.needs])).toEqual([
    ["load", []],
    ["report", ["load"]],
    ["mail", ["report"]],
  ]);
});

it("two workflows of one name stand with their projects", () => {
  const twice = { ...lineage, workflows: [...lineage.workflows, { project: "c", workflow: "load" }] };
  expect(labelsOf(twice)).toEqual(["a/load", "report", "mail", "c/load"]);
});

it("knows what leads to a workflow and what leads on", () => {
  const { above, below } = waysAt(lineage, "a/report");
  expect(above.map((e) => e.name)).toEqual(["wait", "after load", "again"]);
  expect(below.map((e) => e.name)).toEqual(["again", "send"]);
  expect(waysAt(lineage, "c/none")).toEqual({ above: [], below: [] });
});
