import { type Edge as FlowEdge, type Node as FlowNode, Position } from "@xyflow/react";
import type { Task } from "../../domain/document/read";
import { type Direction, defaults, type Points } from "../../domain/graph/layout";
import { edgeId, type Illegal } from "../../domain/graph/model";
import type { Rules } from "../../domain/graph/rules";
import { branchWords, roomFor } from "../../graph/branch";
import type { Edge } from "../commands";

// The document's tasks as ReactFlow wants them. What looks as before stays the same object, so that
// an edit of one task in 2,000 makes one node anew.

/** NodeData is what a task's node shows. */
export type NodeData = Record<string, unknown> & {
  name: string;
  type: string;
  problems: number;
  /** Why the edge that is being drawn cannot end here. */
  illegal: Illegal | undefined;
  locked: boolean;
  /** The state in the instance that is shown over the canvas; undefined where none is. */
  state: string | undefined;
  gate: string | undefined;
  last: boolean;
  /** The type of what undoes it. */
  undone: string | undefined;
};

/** CanvasNode is a task on the canvas; its size and the ends of its edges are given, nothing is measured. */
export type CanvasNode = FlowNode<NodeData, "task">;

/** Look is what the nodes are made of, beside the tasks. */
export interface Look {
  readonly points: Points;
  readonly direction: Direction;
  readonly chosen: ReadonlySet<string>;
  readonly problems: (task: string) => number;
  readonly illegal: ReadonlyMap<string, Illegal> | undefined;
  readonly locked: boolean;
  readonly states: ReadonlyMap<string, string> | undefined;
  readonly rules: Rules;
  /** The accessible name of a node, and the word for what it is. */
  readonly label: (task: Task, problems: number, state: string | undefined) => string;
  readonly role: string;
}

const { size } = defaults;

interface Kept {
  task: Task;
  look: Look["label"];
  node: CanvasNode;
}

/** NodeCache makes nodes anew only where they differ from those before. */
export class NodeCache {
  private kept = new Map<string, Kept>();

  /** nodes answers the nodes of all tasks that have a name and a place; of two tasks of one name the first is drawn. */
  nodes(tasks: readonly Task[], look: Look): CanvasNode[] {
    const next = new Map<string, Kept>();
    for (const task of tasks) {
      const position = look.points[task.name];
      if (task.name === "" || !position || next.has(task.name)) continue;
      const data: NodeData = {
        name: task.name,
        type: task.type,
        problems: look.problems(task.name),
        illegal: look.illegal?.get(task.name),
        locked: look.locked,
        state: look.states && (look.states.get(task.name) ?? ""),
        gate: look.rules.gates.get(task.name),
        last: task.finally,
        undone: look.rules.undone.get(task.name),
      };
      const old = this.kept.get(task.name);
      const selected = look.chosen.has(task.name);
      const same = old?.look === look.label && old.node.position === position && old.node.selected === selected;
      if (same && old.task.needs === task.needs && sameData(old.node.data, data) && old.node.targetPosition === sides[look.direction][0]) {
        next.set(task.name, old);
        continue;
      }
      next.set(task.name, { task, look: look.label, node: made(task, { position, selected, data }, look) });
    }
    this.kept = next;
    return Array.from(next.values(), (k) => k.node);
  }
}

const sides = { LR: [Position.Left, Position.Right], TB: [Position.Top, Position.Bottom] } as const;

function made(task: Task, own: Pick<CanvasNode, "position" | "selected" | "data">, look: Look): CanvasNode {
  const { width, height } = size;
  const [into, out] = sides[look.direction];
  return {
    id: task.name,
    type: "task",
    ...own,
    width,
    height,
    measured: size,
    targetPosition: into,
    sourcePosition: out,
    handles: handles[look.direction],
    draggable: !look.locked,
    ariaLabel: look.label(task, own.data.problems, own.data.state),
    domAttributes: { tabIndex: -1, "aria-roledescription": look.role },
  };
}

const point = { width: 1, height: 1 };
const handles: Record<Direction, CanvasNode["handles"]> = {
  LR: [
    { ...point, type: "target", position: Position.Left, x: 0, y: size.height / 2 },
    { ...point, type: "source", position: Position.Right, x: size.width, y: size.height / 2 },
  ],
  TB: [
    { ...point, type: "target", position: Position.Top, x: size.width / 2, y: 0 },
    { ...point, type: "source", position: Position.Bottom, x: size.width / 2, y: size.height },
  ],
};

function sameData(a: NodeData, b: NodeData): boolean {
  return (
    a.type === b.type &&
    a.problems === b.problems &&
    a.illegal === b.illegal &&
    a.locked === b.locked &&
    a.state === b.state &&
    a.gate === b.gate &&
    a.last === b.last &&
    a.undone === b.undone
  );
}

/** Drawing is what the edges are drawn by, beside the tasks; lit ones are drawn strong. */
export interface Drawing {
  readonly points: Points;
  readonly direction: Direction;
  readonly rules: Rules;
  readonly chosen: ReadonlySet<string>;
  readonly target: string | undefined;
}

/** EdgeCache does the same for edges. */
export class EdgeCache {
  private kept = new Map<string, FlowEdge>();

  /** edges answers an edge per need whose both ends are drawn. */
  edges(tasks: readonly Task[], { points, direction, rules, chosen, target }: Drawing): FlowEdge[] {
    const next = new Map<string, FlowEdge>();
    for (const task of tasks) {
      const to = points[task.name];
      if (!to) continue;
      for (const need of task.needs) {
        const id = edgeId(need, task.name);
        const from = points[need];
        if (!from || next.has(id)) continue;
        const className = `${chosen.has(id) ? "edge-chosen" : ""}${target === id ? " edge-target" : ""}`;
        const branch = rules.branches.get(id);
        const label = branch && branchWords(branch, roomFor(from, to, size, direction));
        const old = this.kept.get(id);
        const same = old && old.className === className && old.label === label;
        next.set(id, same ? old : { ...lineOf({ from: need, to: task.name }, id, className), label });
      }
    }
    this.kept = next;
    return [...next.values()];
  }
}

// The nodes say what they come after, and their menu lists their edges: a line has nothing to add.
const hidden = { "aria-hidden": true } as const;

function lineOf({ from, to }: Edge, id: string, className: string): FlowEdge {
  return { id, source: from, target: to, className, focusable: false, selectable: false, interactionWidth: 18, domAttributes: hidden };
}

/** endsOf gives the ends of an edge by its id, among the edges of these tasks. */
export function endsOf(id: string): Edge {
  const at = id.indexOf(">");
  return { from: id.slice(0, at), to: id.slice(at + 1) };
}
