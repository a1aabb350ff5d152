import type { components } from "../api/schema";
import { edgeId } from "../domain/graph/model";
import type { DrawnTask, Mark } from "../graph/nodes";

type Diff = Pick<components["schemas"]["Diff"], "tasks" | "edges">;

/** joined gives the tasks of both versions with the edges of both, and marks what differs. Of a draft only the names of its new tasks are known. */
export function joined(before: readonly DrawnTask[], diff: Diff, after: readonly DrawnTask[] = []): DrawnTask[] {
  const all = new Map<string, DrawnTask>();
  for (const task of [...before, ...after]) all.set(task.name, task);
  for (const name of diff.tasks.added) if (!all.has(name)) all.set(name, { name, type: "", needs: [], retries: 0 });
  const needs = new Map<string, Set<string>>();
  const add = (to: string, from: string) => {
    const set = needs.get(to) ?? new Set();
    needs.set(to, set.add(from));
  };
  for (const task of [...before, ...after]) for (const need of task.needs) add(task.name, need);
  for (const e of diff.edges.added) add(e.to, e.from);
  const marks = new Map<string, Mark>([
    ...diff.tasks.changed.map((c) => [c.task, "changed"] as const),
    ...diff.tasks.added.map((name) => [name, "added"] as const),
    ...diff.tasks.removed.map((name) => [name, "removed"] as const),
  ]);
  const edges = new Map<string, Mark>([
    ...diff.edges.added.map((e) => [edgeId(e.from, e.to), "added"] as const),
    ...diff.edges.removed.map((e) => [edgeId(e.from, e.to), "removed"] as const),
  ]);
  return [...all.values()].map((task) => {
    const own = [...(needs.get(task.name) ?? [])];
    const edgeMarks = new Map(
      own.flatMap((need) => [[need, edges.get(edgeId(need, task.name))] as const]).flatMap(([n, m]) => (m ? [[n, m] as const] : [])),
    );
    return { ...task, needs: own, mark: marks.get(task.name), edgeMarks };
  });
}
