import { type Edge as FlowEdge, type Node as FlowNode, Position } from "@xyflow/react";
import { undoes } from "../domain/graph/mirror";
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
  /** How many children a dynamic task's list makes. */
  items?: number;
  /** How many of those are in which state. */
  fan?: Readonly<Record<string, number>>;
  from?: string;
  to?: string;
}

/** NodeData is what a task's node shows. */
export type NodeData = Record<string, unknown> & {
  name: string;
  type: string;
  state: string | undefined;
  attempts: number;
  items: number;
  fan: Readonly<Record<string, number>> | undefined;
  /** How many attempts it may have. */
  of: number;
  from: string | undefined;
  to: string | undefined;
  dim: boolean;
  mark: Mark | undefined;
  gate: string | undefined;
  last: boolean;
  /** Where the link between it and what undoes it ends: out of the work, into what undoes it. */
  undo: "source" | "target" | undefined;
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

/** undoEnd names the ends of the links between the work and its mirror. */
export const undoEnd = "undo";

/** keptNodes makes the nodes anew where they differ from those before. */
export function keptNodes(tasks: readonly DrawnTask[], view: View, before: ReadonlyMap<string, TaskNode>): Map<string, TaskNode> {
  const out = new Map<string, TaskNode>();
  const ends = sides[view.direction];
  const handles = allHandles(view.size, view.direction);
  const undone = new Set(tasks.flatMap((x) => (undoes(x.name) ? x.needs.slice(0, 1) : [])));
  for (const task of tasks) {
    const position = view.points[task.name];
    if (!position || out.has(task.name)) continue;
    const s = view.states?.get(task.name);
    const old = before.get(task.name);
    const data: NodeData = {
      name: task.name,
      type: undoes(task.name) ? "compensate" : task.type,
      state: view.states ? (s?.state ?? "") : undefined,
      attempts: s?.attempts ?? 0,
      items: s?.items ?? 0,
      fan: s?.fan,
      of: task.retries + 1,
      from: s?.from,
      to: s?.to,
      dim: view.bright !== undefined && !view.bright.has(task.name),
      mark: task.mark,
      gate: view.rules?.gates.get(task.name),
      last: view.rules?.last.has(task.name) ?? false,
      undo: undoes(task.name) ? "target" : undone.has(task.name) ? "source" : undefined,
    };
    if (old && old.position === position && sameData(old.data, data)) {
      out.set(task.name, old);
      continue;
    }
    const { width, height } = view.size;
    const back = undoes(task.name);
    out.set(task.name, {
      id: task.name,
      type: "task",
      position,
      width,
      height,
      measured: view.size,
      handles: handles[data.undo ?? "none"],
      targetPosition: ends[back ? 1 : 0],
      sourcePosition: ends[back ? 0 : 1],
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
    a.undo === b.undo &&
    a.attempts === b.attempts &&
    a.items === b.items &&
    // The cache of answers keeps equal counts the same object.
    a.fan === b.fan &&
    a.from === b.from &&
    a.to === b.to &&
    a.type === b.type &&
    a.of === b.of
  );
}

// Where edges come in and go out. What undoes is the mirror of the work: it runs the other way.
const sides = { LR: [Position.Left, Position.Right], TB: [Position.Top, Position.Bottom] } as const;

/** across are the sides that face each other where the mirror begins. */
export const across = { LR: [Position.Bottom, Position.Top], TB: [Position.Right, Position.Left] } as const;

type Handles = NonNullable<TaskNode["handles"]>;

function allHandles(size: Size, direction: Direction): Record<"none" | "source" | "target", Handles> {
  const handle = (type: "source" | "target", position: Position, id?: string) => ({
    width: 1,
    height: 1,
    type,
    position,
    id,
    ...endOf(size, position),
  });
  const [start, end] = sides[direction];
  const [below, above] = across[direction];
  const work = [handle("target", start), handle("source", end)];
  return {
    none: work,
    source: [...work, handle("source", below, undoEnd)],
    target: [handle("target", end), handle("source", start), handle("target", above, undoEnd)],
  };
}

function endOf({ width, height }: Size, side: Position): { x: number; y: number } {
  if (side === Position.Left || side === Position.Right) return { x: side === Position.Left ? 0 : width, y: height / 2 };
  return { x: width / 2, y: side === Position.Top ? 0 : height };
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
      const back = undoes(task.name);
      // A way back leads on from a success and from nothing else: what its end says is told by the node.
      const kind = back ? "" : edgeKind(state(need), state(task.name));
      const mark = task.edgeMarks?.get(need);
      const undo = back ? " edge-undo" : "";
      const className = `${mark ? `edge-${mark}` : kind && `edge-${kind}`}${undo}${dim(need) || dim(task.name) ? " edge-dim" : ""}`;
      const old = before.get(id);
      if (old && old.className === className && old.label === label) {
        out.set(id, old);
        continue;
      }
      out.set(id, {
        id,
        source: need,
        target: task.name,
        ...(back && !undoes(need) ? { sourceHandle: undoEnd, targetHandle: undoEnd } : undefined),
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
