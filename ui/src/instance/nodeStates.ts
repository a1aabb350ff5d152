import type { Task } from "../api/client";
import type { NodeState } from "../graph/nodes";

/** nodeStates is what the graph of an instance says of each task. */
export function nodeStates(tasks: readonly Task[]): Map<string, NodeState> {
  return new Map(
    tasks.map((x) => [
      x.name,
      { state: x.state, attempts: x.attempts, items: x.items, fan: x.item_states, from: x.started_at, to: x.finished_at },
    ]),
  );
}
