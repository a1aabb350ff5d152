import { type FinalConnectionState, type Edge as FlowEdge, type NodeChange, type ReactFlowProps, useReactFlow } from "@xyflow/react";
import { type MouseEvent as ReactMouseEvent, useCallback, useMemo, useRef, useState } from "react";
import { defaults, type Point, type Points } from "../../domain/graph/layout";
import { illegalSources, illegalTargets } from "../../domain/graph/model";
import { useDocument } from "../context";
import { type CanvasNode, endsOf } from "./nodes";
import { snap } from "./snap";
import type { Target } from "./ui";
import type { BoardParts } from "./useBoard";
import { useEdgeHover } from "./useEdgeHover";

const { size } = defaults;
// Snapping is felt within this many pixels of the screen, whatever the zoom.
const snapReach = 6;

interface Dragged {
  readonly points: Record<string, Point>;
  readonly x?: number;
  readonly y?: number;
}

// What a line is drawn from: a task's edge, or an end of a line that is there, with the end that stays.
type Link = { kind: "new"; from: string } | { kind: "end"; id: string; fixed: "source" | "target" };

/** useMouse is what the pointer does on the canvas: choose, drag, draw and move edges, drop, and ask for the menu. */
export function useMouse({ board, points }: { board: BoardParts; points: Points }) {
  const { acts, ui } = board;
  const doc = useDocument();
  const flow = useReactFlow();
  const hover = useEdgeHover();
  const [dragged, setDragged] = useState<Dragged>();
  const drag = useRef<Dragged>(undefined);
  const link = useRef<Link>(undefined);
  const latest = useRef(points);
  latest.current = points;
  const show = useCallback((next: Dragged | undefined) => {
    drag.current = next;
    setDragged(next);
  }, []);
  const shown = useMemo(() => (dragged ? { ...points, ...dragged.points } : points), [points, dragged]);

  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      choose(changes, acts.chosen, (tasks) => {
        doc.select(tasks);
        ui.setState({ edges: [] });
      });
      const moved = changes.flatMap((c) => (c.type === "position" && c.dragging && c.position ? [[c.id, c.position] as const] : []));
      if (moved.length > 0) show(aligned(moved, latest.current, snapReach / flow.getZoom()));
    },
    [acts, doc, flow, show, ui],
  );

  const onNodeDrag = useCallback(
    (event: globalThis.MouseEvent | TouchEvent | ReactMouseEvent, node: CanvasNode) => {
      const at = pointOf(event);
      const tasks = doc.state.reading.model.tasks;
      const alone = !tasks.some((t) => t.needs.includes(node.id) || (t.name === node.id && t.needs.length > 0));
      ui.setState({ over: alone && at && Object.keys(drag.current?.points ?? {}).length === 1 ? edgeUnder(at) : undefined });
    },
    [doc, ui],
  );
  const onNodeDragStop = useCallback(
    (_: unknown, node: CanvasNode) => {
      const { over } = ui.getState();
      const moves = drag.current?.points;
      ui.setState({ over: undefined });
      if (over !== undefined) acts.threadOn(endsOf(over), node.id);
      else if (moves) acts.move(moves);
      show(undefined);
    },
    [acts, show, ui],
  );

  const links = useLinks(board, link);
  const onContextMenu = useCallback(
    (event: ReactMouseEvent) => {
      const at = event.target instanceof Element ? event.target : undefined;
      if (!at || at.closest("[role=dialog], [role=menu], input, .canvas-tools")) return;
      event.preventDefault();
      const { on, screen } = asked(event, at, acts.chosen.at(-1), flow.screenToFlowPosition);
      acts.menu(on, on.kind === "task" && event.button !== 2 ? acts.screenOf(on.task) : screen);
    },
    [acts, flow],
  );

  const paletteOver = useCallback((at: Point | undefined) => ui.setState({ over: at && edgeUnder(at) }), [ui]);
  const paletteDrop = useCallback(
    (type: string, at: Point) => {
      const over = edgeUnder(at);
      if (over !== undefined) return acts.addType(type, { edge: endsOf(over) });
      if (!document.elementFromPoint(at.x, at.y)?.closest(".canvas-flow")) return;
      const p = flow.screenToFlowPosition(at);
      acts.addType(type, { after: [], at: { x: Math.round(p.x - size.width / 2), y: Math.round(p.y - size.height / 2) } });
    },
    [acts, flow],
  );

  const plus = useCallback((id: string, screen: Point) => acts.open({ kind: "types", screen, added: { edge: endsOf(id) } }), [acts]);

  const props: ReactFlowProps<CanvasNode> = {
    onNodesChange,
    onNodeDrag,
    onNodeDragStop,
    ...links,
    onEdgeMouseEnter: hover.enterEdge,
    onEdgeMouseLeave: hover.leaveEdge,
    onEdgeClick: useCallback(
      (event: ReactMouseEvent, edge: FlowEdge) => acts.chooseEdge(edge.id, event.ctrlKey || event.metaKey || event.shiftKey),
      [acts],
    ),
    onPaneClick: useCallback(() => ui.setState({ edges: [] }), [ui]),
  };
  return {
    props,
    shown,
    lines: dragged,
    onContextMenu,
    paletteOver,
    paletteDrop,
    plus,
    hovered: hover.edge,
    enterPlus: hover.enterPlus,
    leavePlus: hover.leavePlus,
  };
}

// Lines are drawn by ReactFlow; where one may end and what is done there is ours, so that any part of a node is a target.
function useLinks({ acts, ui }: BoardParts, link: { current: Link | undefined }) {
  const doc = useDocument();
  const flow = useReactFlow();
  const begin = useCallback(
    (next: Link) => {
      const { tasks } = doc.state.reading.model;
      link.current = next;
      if (next.kind === "new") return ui.setState({ illegal: illegalTargets(tasks, next.from) });
      const { from, to } = endsOf(next.id);
      const rest = tasks.map((t) => (t.name === to ? { ...t, needs: t.needs.filter((n) => n !== from) } : t));
      ui.setState({ illegal: next.fixed === "source" ? illegalTargets(rest, from) : illegalSources(rest, to) });
    },
    [doc, link, ui],
  );
  const end = useCallback(
    (event: globalThis.MouseEvent | TouchEvent) => {
      const was = link.current;
      link.current = undefined;
      ui.setState({ illegal: undefined });
      const at = pointOf(event);
      if (!was || !at) return;
      const under = document.elementFromPoint(at.x, at.y);
      const task = under?.closest(".react-flow__node")?.getAttribute("data-id") ?? undefined;
      if (was.kind === "end") {
        if (task !== undefined) acts.reconnect(endsOf(was.id), was.fixed === "source" ? { to: task } : { from: task });
      } else if (task !== undefined) acts.connect(was.from, task);
      else if (under?.closest(".canvas-flow")) {
        const p = flow.screenToFlowPosition(at);
        const place = { x: Math.round(p.x), y: Math.round(p.y - size.height / 2) };
        acts.open({ kind: "types", screen: at, added: { after: [was.from], at: place } });
      }
    },
    [acts, flow, link, ui],
  );
  return useMemo(
    () => ({
      onConnectStart: (_: unknown, { nodeId }: { nodeId: string | null }) => {
        if (nodeId !== null && !link.current) begin({ kind: "new", from: nodeId });
      },
      onConnectEnd: (event: globalThis.MouseEvent | TouchEvent, _: FinalConnectionState) => end(event),
      onReconnect: () => undefined,
      onReconnectStart: (_: ReactMouseEvent, edge: FlowEdge, fixed: "source" | "target") => begin({ kind: "end", id: edge.id, fixed }),
      onReconnectEnd: (event: globalThis.MouseEvent | TouchEvent) => end(event),
    }),
    [begin, end, link],
  );
}

// ReactFlow tells what a click or a marquee changes; the order of choosing is kept, the last one has the focus.
function choose(changes: readonly NodeChange<CanvasNode>[], before: readonly string[], select: (tasks: string[]) => void): void {
  const picks = changes.flatMap((c) => (c.type === "select" ? [c] : []));
  if (picks.length === 0) return;
  const off = new Set(picks.flatMap((c) => (c.selected ? [] : [c.id])));
  const on = picks.flatMap((c) => (c.selected && !before.includes(c.id) ? [c.id] : []));
  select([...before.filter((n) => !off.has(n)), ...on]);
}

// All that is dragged moves as one: the first of it settles in line with what stands, the rest keep their distance.
function aligned(moved: readonly (readonly [string, Point])[], points: Points, reach: number): Dragged {
  const own = new Set(moved.map(([name]) => name));
  const lead = moved[0]?.[1] ?? { x: 0, y: 0 };
  const others = Object.keys(points).flatMap((name) => (own.has(name) ? [] : (points[name] ?? [])));
  const { at, ...lines } = snap(lead, others, reach);
  const [dx, dy] = [at.x - lead.x, at.y - lead.y];
  return { ...lines, points: Object.fromEntries(moved.map(([name, p]) => [name, { x: Math.round(p.x + dx), y: Math.round(p.y + dy) }])) };
}

function pointOf(event: globalThis.MouseEvent | TouchEvent | ReactMouseEvent): Point | undefined {
  const at = "changedTouches" in event ? event.changedTouches[0] : event;
  return at && { x: at.clientX, y: at.clientY };
}

/** edgeUnder finds the edge at a point of the window, also under a node that is dragged over it. */
function edgeUnder({ x, y }: Point): string | undefined {
  for (const element of document.elementsFromPoint(x, y)) {
    const id = element.closest(".react-flow__edge")?.getAttribute("data-id");
    if (id) return id;
  }
  return undefined;
}

// The menu key comes without a place of the pointer: it is meant for the task that has the focus.
function asked(
  event: ReactMouseEvent,
  at: Element,
  chosen: string | undefined,
  toFlow: (p: Point) => Point,
): { on: Target; screen: Point } {
  const screen = { x: event.clientX, y: event.clientY };
  const node = at.closest(".react-flow__node")?.getAttribute("data-id");
  // The button in the middle of an edge lies over the edge's own words.
  const edge = at.closest(".react-flow__edge, .edge-plus")?.getAttribute("data-id");
  if (node) return { on: { kind: "task", task: node }, screen };
  if (edge) return { on: { kind: "edge", edge: endsOf(edge) }, screen };
  if (event.button !== 2 && chosen !== undefined) return { on: { kind: "task", task: chosen }, screen };
  return { on: { kind: "ground", at: toFlow(screen) }, screen };
}
