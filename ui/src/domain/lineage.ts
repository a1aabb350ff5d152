import type { Lineage, LineageEdge } from "../api/lineage";

// The lineage as a graph of names: workflows are its nodes.

type Workflow = Pick<Lineage["workflows"][number], "project" | "workflow">;

export interface LineageNode {
  readonly name: string;
  readonly type: "workflow";
  readonly retries: 0;
  readonly needs: readonly string[];
}

/** keyOf names a workflow anywhere: neither name can hold a slash. */
export function keyOf(w: Workflow): string {
  return `${w.project}/${w.workflow}`;
}

/** labelsOf are what stands on the nodes: the name alone, with its project where two have the same. */
export function labelsOf(lineage: Lineage): string[] {
  const times = new Map<string, number>();
  for (const { workflow } of lineage.workflows) times.set(workflow, (times.get(workflow) ?? 0) + 1);
  return lineage.workflows.map((w) => (times.get(w.workflow) === 1 ? w.workflow : keyOf(w)));
}

/** nodesOf turns the answer into nodes; several ways between two workflows are one need. */
export function nodesOf(lineage: Lineage): LineageNode[] {
  const names = labelsOf(lineage);
  const needs = names.map(() => new Set<string>());
  for (const e of lineage.edges) {
    const from = names[e.from];
    // A workflow that starts itself again is told in the list; a graph has no such edge.
    if (from !== undefined && e.from !== e.to) needs[e.to]?.add(from);
  }
  return names.map((name, i) => ({ name, type: "workflow", retries: 0, needs: [...(needs[i] ?? [])] }));
}

/** waysAt are the edges at one workflow: those that lead to it, and those that lead on. */
export function waysAt(lineage: Lineage, key: string): { above: LineageEdge[]; below: LineageEdge[] } {
  const at = lineage.workflows.findIndex((w) => keyOf(w) === key);
  return { above: lineage.edges.filter((e) => e.to === at), below: lineage.edges.filter((e) => e.from === at) };
}
