import { type Edge as FlowEdge, type Node as FlowNode, Position } from "@xyflow/react";
import { edgeId, type GraphTask } from "../domain/graph/model";
import type { Rules } from "../domain/graph/rules";
import type { Direction, Points, Size } from "../domain/graph/shape";
import { isFinalTask } from "../domain/states";
import { branchWords, roomFor } from "./branch";

// Tasks as ReactFlow wants them. A node or an edge that looks as before stays the same object: of 200
// changed states in 2,000 tasks, 200 nodes and the edges at them are made and painted anew.

/** NodeState is what a graph of an instance says of a task. Its values are compared, so it may be made anew each time. */
export interface NodeState {
  state: string;
  attempts?: number;
  from?: string;
  to?: string;
}

/** NodeData is what a task's node shows. */
export type NodeData = Record<string, unknown> & {
  name: string;
  type: string;
  state: string | undefined;
  attempts: number;
  /** How many attempts it may have. */
  of: number;
  from: string | undefined;
  to: string | undefined;
  dim: boolean;
  mark: Mark | undefined;
  gate: string | undefined;
  last: boolean;
};

/** TaskNode is a node of ReactFlow's. Its size and the ends of its edges are given, so that edges to nodes that are not mounted are right. */
export type TaskNode = FlowNode<NodeData, "task">;

/** Mark is how a task or an edge differs between two versions. */
export type Mark = "added" | "removed" | "changed";

/** DrawnTask is a task of a version. */
export interface DrawnTask extends GraphTask {
  readonly type: string;
  readonly retries: number;
  readonly mark?: Mark;
  /** The marks of the edges from its needs. */
  readonly edgeMarks?: ReadonlyMap<string, Mark>;
}

/** View is how the tasks are shown. */
export interface View {
  points: Points;
  size: Size;
  direction: Direction;
  states: ReadonlyMap<string, NodeState> | undefined;
  /** Those that stay bright; undefined when all do. */
  bright: ReadonlySet<string> | undefined;
  rules: Rules | undefined;
  /** The accessible name of a node. */
  label: (task: DrawnTask, state: NodeState | undefined) => string;
}

/** keptNodes makes the nodes anew where they differ from those before. */
export function keptNodes(tasks: readonly DrawnTask[], view: View, before: ReadonlyMap<string, TaskNode>): Map<string, TaskNode> {
  const out = new Map<string, TaskNode>();
  const handles = handlesOf(view.size, view.direction);
  for (const task of tasks) {
    const position = view.points[task.name];
    if (!position || out.has(task.name)) continue;
    const s = view.states?.get(task.name);
    const old = before.get(task.name);
    const data: NodeData = {
      name: task.name,
      type: task.type,
      state: view.states ? (s?.state ?? "") : undefined,
      attempts: s?.attempts ?? 0,
      of: task.retries + 1,
      from: s?.from,
      to: s?.to,
      dim: view.bright !== undefined && !view.bright.has(task.name),
      mark: task.mark,
      gate: view.rules?.gates.get(task.name),
      last: view.rules?.last.has(task.name) ?? false,
    };
    if (old && old.position === position && sameData(old.data, data)) {
      out.set(task.name, old);
      continue;
    }
    const { width, height } = view.size;
    out.set(task.name, {
      id: task.name,
      type: "task",
      position,
      width,
      height,
      measured: view.size,
      handles,
      sourcePosition: view.direction === "LR" ? Position.Right : Position.Bottom,
      targetPosition: view.direction === "LR" ? Position.Left : Position.Top,
      ariaLabel: view.label(task, s),
      data,
    });
  }
  return out;
}

function sameData(a: NodeData, b: NodeData): boolean {
  return (
    a.state === b.state &&
    a.dim === b.dim &&
    a.mark === b.mark &&
    a.gate === b.gate &&
    a.last === b.last &&
    a.attempts === b.attempts &&
    a.from === b.from &&
    a.to === b.to &&
    a.type === b.type &&
    a.of === b.of
  );
}

function handlesOf({ width, height }: Size, direction: Direction): TaskNode["handles"] {
  return direction === "LR"
    ? [
        { width: 1, height: 1, type: "target", position: Position.Left, x: 0, y: height / 2 },
        { width: 1, height: 1, type: "source", position: Position.Right, x: width, y: height / 2 },
      ]
    : [
        { width: 1, height: 1, type: "target", position: Position.Top, x: width / 2, y: 0 },
        { width: 1, height: 1, type: "source", position: Position.Bottom, x: width / 2, y: height },
      ];
}

const hidden = { "aria-hidden": true } as const;

const bad = new Set(["failed", "killed", "upstream_failed"]);
const idle = new Set(["upstream_failed", "skipped", "disabled"]);

/** edgeKind says by the states of its ends how an edge is drawn; "" is the plain line of what lies ahead. */
export function edgeKind(from: string | undefined, to: string | undefined): "" | "done" | "blocked" | "idle" {
  if (from === undefined || to === undefined) return "";
  if (bad.has(from)) return "blocked";
  if (idle.has(to) || to === "") return "idle";
  return isFinalTask(from) ? "done" : "";
}

/** keptEdges makes the edges anew where they differ from those before. */
export function keptEdges(tasks: readonly DrawnTask[], view: View, before: ReadonlyMap<string, FlowEdge>): Map<string, FlowEdge> {
  const out = new Map<string, FlowEdge>();
  const dim = (name: string) => view.bright !== undefined && !view.bright.has(name);
  const state = (name: string) => (view.states ? (view.states.get(name)?.state ?? "") : undefined);
  for (const task of tasks) {
    for (const need of task.needs) {
      const [from, to] = [view.points[need], view.points[task.name]];
      if (!from || !to) continue;
      const id = edgeId(need, task.name);
      const branch = view.rules?.branches.get(id);
      const label = branch && branchWords(branch, roomFor(from, to, view.size, view.direction));
      const kind = edgeKind(state(need), state(task.name));
      const mark = task.edgeMarks?.get(need);
      const className = `${mark ? `edge-${mark}` : kind && `edge-${kind}`}${dim(need) || dim(task.name) ? " edge-dim" : ""}`;
      const old = before.get(id);
      if (old && old.className === className && old.label === label) {
        out.set(id, old);
        continue;
      }
      out.set(id, {
        id,
        source: need,
        target: task.name,
        className,
        label,
        focusable: false,
        selectable: false,
        interactionWidth: 0,
        // The nodes say what they come after; a line has nothing to add.
        domAttributes: hidden,
      });
    }
  }
  return out;
}

/** focusOf is the task that a graph opens at: the first that failed, else that runs, else the first. */
export function focusOf(tasks: readonly GraphTask[], states: ReadonlyMap<string, NodeState> | undefined): string | undefined {
  const first = (...wanted: string[]) => tasks.find((t) => wanted.includes(states?.get(t.name)?.state ?? ""))?.name;
  return first("failed", "killed") ?? first("running") ?? first("retry_wait", "killing", "dispatched") ?? tasks[0]?.name;
}
