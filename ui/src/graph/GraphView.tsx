import "@xyflow/react/dist/base.css";
import "./graph.css";
import {
  type Edge as FlowEdge,
  ReactFlow,
  ReactFlowProvider,
  type ReactFlowState,
  useReactFlow,
  useStore,
  useStoreApi,
  ViewportPortal,
} from "@xyflow/react";
import { useCallback, useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { fanOf } from "../domain/fan";
import type { Rect } from "../domain/graph/hit";
import { type Band, mirrorOf, reflect } from "../domain/graph/mirror";
import { graphOf } from "../domain/graph/model";
import { holds, partOf, sightOf, tasksIn } from "../domain/graph/part";
import type { Rules } from "../domain/graph/rules";
import { type Direction, defaults, type Points, type Size, towards } from "../domain/graph/shape";
import { type Camera, fitAll, opening, readable } from "../domain/graph/view";
import { isTrouble } from "../domain/states";
import { useSay, word } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { fanWords } from "../parts/FanCounts";
import { type Keys, useKeys } from "../shell/keys";
import { ruleWords } from "./branch";
import { FarView, useFar } from "./FarView";
import { FindTask } from "./FindTask";
import { GraphTools } from "./GraphTools";
import { warmLayout } from "./layoutClient";
import { MiniView } from "./MiniView";
import { type DrawnTask, focusOf, keptEdges, keptNodes, type NodeState, type TaskNode, type View } from "./nodes";
import { useDirection } from "./prefs";
import { type Scene, spotOf } from "./scene";
import { ChosenTask, TaskNodeView } from "./TaskNodeView";
import { type Fly, useFlight, useWalk } from "./travel";
import { useLayout } from "./useLayout";

export type { NodeState } from "./nodes";

interface Props {
  name: string;
  tasks: readonly DrawnTask[];
  /** Places that were saved; the others are found. */
  places?: Points;
  /** What the definition says of when its tasks run, once it is known. */
  rules?: Rules;
  /** The tasks of an instance; none shows the definition alone. */
  states?: ReadonlyMap<string, NodeState>;
  chosen?: string;
  onChoose?: (task: string) => void;
  problems?: boolean;
  onProblems?: (on: boolean) => void;
  /** It is a part of a page that has a graph of its own: the page's keys are not about it. */
  inset?: boolean;
}

/** GraphView shows a version's tasks, or an instance's with their states. It can not be edited. */
export function GraphView(props: Props) {
  const { t } = useSay();
  const [direction] = useDirection();
  // Saved places are from left to right: the other way all is arranged anew.
  const mirror = useMemo(() => mirrorOf(props.tasks), [props.tasks]);
  const layout = useLayout(mirror.forward, direction, direction === "LR" ? props.places : undefined);
  const drawn = useMemo(
    () => layout.points && reflect(layout.points, mirror.undone, towards(direction)),
    [layout.points, mirror, direction],
  );
  const section = useRef<HTMLElement>(null);
  const [box, setBox] = useState<Size>();
  // Measured before the first paint: the graph opens where it belongs, and no other part of it is ever mounted.
  useLayoutEffect(() => {
    const { width, height } = section.current?.getBoundingClientRect() ?? { width: 0, height: 0 };
    if (width > 0 && height > 0) setBox({ width, height });
    else setBox({ width: 800, height: 480 });
  }, []);
  if (layout.error) return <ErrorView error={layout.error} retry={layout.retry} />;
  return (
    <section className="canvas" ref={section} aria-label={t("run.graphLabel", { workflow: props.name })}>
      {drawn && box ? (
        <ReactFlowProvider key={direction}>
          <Canvas {...props} tasks={mirror.all} points={drawn.points} band={drawn.band} direction={direction} box={box} />
        </ReactFlowProvider>
      ) : (
        <p className="faint pad">{t("run.layout")}</p>
      )}
    </section>
  );
}

// Whoever loads this file is about to draw.
warmLayout();

const nodeTypes = { task: TaskNodeView };
const noNodes: TaskNode[] = [];
const noEdges: FlowEdge[] = [];
const { size } = defaults;
/** Where an overview begins to help: fewer tasks are seen at a glance. */
const overviewFrom = 30;
/** The most tasks that the canvas is given all at once; of more, those on the screen and around it. */
const wholeUpTo = 60;

type CanvasProps = Props & { points: Points; band: Band | undefined; direction: Direction; box: Size };

function Canvas({ name, tasks, points, band, direction, box, rules, states, chosen, onChoose, problems, onProblems, inset }: CanvasProps) {
  const { t } = useSay();
  const flow = useReactFlow();
  const far = useFar();
  const [finding, setFinding] = useState(false);
  const [found, setFound] = useState<string>();
  const focus = chosen !== undefined && points[chosen] ? chosen : focusOf(tasks, states);
  const [first] = useState(() => opening(points, size, box, focus));
  const least = useMemo(() => Math.min(0.1, fitAll(points, size, { width: 320, height: 240 }).zoom), [points]);
  const shown = found ?? chosen;
  const part = usePart(tasks.length > wholeUpTo, first, box);
  const { nodes, edges, scene, said } = useDrawing({ tasks, points, direction, rules, states, problems, part });
  // The overview may be a frame late: what a key or an event changed on the canvas comes first.
  const overview = useDeferredValue(scene);
  const fly = useFlight(points);
  const walk = useWalk({ tasks, points, direction, start: focus, fly, onChoose });
  const store = useStoreApi();
  const fit = useCallback(() => {
    const { width, height } = store.getState();
    void flow.setViewport(fitAll(points, size, { width, height }));
  }, [flow, store, points]);
  useInSight(chosen, fly);
  useEffect(() => {
    if (inset) return;
    window.addEventListener("porpoise:fit", fit);
    return () => window.removeEventListener("porpoise:fit", fit);
  }, [fit, inset]);
  const find = useCallback(() => setFinding(true), []);
  useKeys(useMemo((): Keys => (inset ? {} : { "mod+f": find }), [find, inset]));
  // The same function while it does the same: every node on the screen is given it.
  const click = useCallback((_: unknown, node: TaskNode) => onChoose?.(node.id), [onChoose]);
  const names = useMemo(() => tasks.map((x) => x.name), [tasks]);
  const label = useMemo(
    () => ({ "node.a11yDescription.default": t("graph.keys"), "node.a11yDescription.keyboardDisabled": t("graph.keys") }),
    [t],
  );
  return (
    <ChosenTask value={shown}>
      <ReactFlow
        nodes={far ? noNodes : nodes}
        edges={far ? noEdges : edges}
        nodeTypes={nodeTypes}
        onNodeClick={click}
        onKeyDown={walk}
        tabIndex={0}
        aria-label={t("run.graphLabel", { workflow: name })}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        elementsSelectable={onChoose !== undefined}
        onlyRenderVisibleElements={tasks.length > wholeUpTo}
        defaultViewport={first}
        minZoom={least}
        maxZoom={2}
        panOnScroll
        zoomOnDoubleClick={false}
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        autoPanOnNodeFocus={false}
        ariaLabelConfig={label}
        proOptions={{ hideAttribution: true }}
      >
        <FarView scene={scene} chosen={shown} tip={said} onChoose={onChoose} />
        {tasks.length > overviewFrom && <MiniView scene={overview} chosen={shown} />}
        {band && !far && (
          <ViewportPortal>
            <p className="undo-band" style={{ transform: `translate(${band.x}px, ${band.y}px)` }}>
              {t("graph.undoing")}
            </p>
          </ViewportPortal>
        )}
      </ReactFlow>
      {finding && (
        <FindTask
          names={names}
          onFound={(task) => {
            setFound(task);
            fly(task, true);
          }}
          onClose={(task) => {
            setFinding(false);
            setFound(undefined);
            if (task !== undefined) fly(task, false, true);
          }}
        />
      )}
      <GraphTools
        tasks={tasks}
        states={states}
        onFit={fit}
        onFind={find}
        onFollow={inset ? undefined : fly}
        problems={problems}
        onProblems={onProblems}
      />
    </ChosenTask>
  );
}

/** useInSight keeps the chosen task on the screen when it is chosen, and when a panel beside the canvas narrows it. */
function useInSight(chosen: string | undefined, fly: Fly) {
  const store = useStoreApi();
  const width = useStore((s) => s.width);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new width is a reason to look again
  useEffect(() => {
    if (chosen !== undefined && store.getState().transform[2] >= readable) fly(chosen, false);
  }, [chosen, width, fly, store]);
}

/**
 * usePart is the part of a large graph that the canvas is given; undefined gives it all. A new part is
 * given when there is time for it, and at once where the one before has not what is seen.
 */
function usePart(large: boolean, first: Camera, box: Size): Rect | undefined {
  const store = useStoreApi();
  const [choose] = useState(() => {
    let last: Rect | undefined;
    return (seen: Rect) => {
      last = partOf(seen, last);
      return last;
    };
  });
  const look = useCallback(
    (s: ReactFlowState) => {
      // Until the canvas has measured itself its camera is not where it will open.
      if (s.width === 0) return sightOf(first, box);
      return sightOf({ x: s.transform[0], y: s.transform[1], zoom: s.transform[2] }, s);
    },
    [first, box],
  );
  const next = useStore(useCallback((s) => (large ? choose(look(s)) : undefined), [large, choose, look]));
  const calm = useDeferredValue(next);
  return calm && holds(calm, look(store.getState())) ? calm : next;
}

type Drawn = Pick<CanvasProps, "tasks" | "points" | "direction" | "rules" | "states" | "problems"> & { part: Rect | undefined };

/** useDrawing gives the nodes and edges of a part and the scene of all; what looks as before stays the same object. */
function useDrawing({ tasks, points, direction, rules, states, problems, part }: Drawn) {
  const { t } = useSay();
  const nodesBefore = useRef({ t, rules, map: new Map<string, TaskNode>() });
  const edgesBefore = useRef(new Map<string, FlowEdge>());
  const label = useCallback(
    (task: DrawnTask, s: NodeState | undefined) => {
      const parts = [task.name, task.type];
      if (states) parts.push(s?.state ? word(t, "state", s.state) : t("state.outside"));
      if (task.mark) parts.push(t(`versions.${task.mark}`));
      if ((s?.attempts ?? 0) > 1) parts.push(t("graph.attempt", { n: s?.attempts ?? 0, of: task.retries + 1 }));
      const fan = fanOf(s?.items, s?.fan);
      if (fan) parts.push(fanWords(t, fan));
      parts.push(...ruleWords(t, task, rules));
      return parts.join(", ");
    },
    [t, states, rules],
  );
  const bright = useMemo(
    () => (problems ? new Set(tasks.filter((x) => isTrouble(states?.get(x.name)?.state ?? "")).map((x) => x.name)) : undefined),
    [problems, tasks, states],
  );
  const view: View = useMemo(
    () => ({ points, size, direction, rules, states, bright, label }),
    [points, direction, rules, states, bright, label],
  );
  const given = useMemo(() => (part ? tasksIn(tasks, points, size, part) : tasks), [tasks, points, part]);
  const nodes = useMemo(() => {
    // In another language, or with rules to tell, every name is another: nothing is kept.
    const before = nodesBefore.current;
    if (before.t !== t || before.rules !== rules) nodesBefore.current = { t, rules, map: new Map() };
    const nodes = keptNodes(given, view, nodesBefore.current.map);
    // What has left the part is kept too: the camera comes back.
    for (const [name, node] of nodes) nodesBefore.current.map.set(name, node);
    return [...nodes.values()];
  }, [given, view, t, rules]);
  const edges = useMemo(() => {
    const edges = keptEdges(given, view, edgesBefore.current);
    for (const [id, edge] of edges) edgesBefore.current.set(id, edge);
    // Both ends are given, or neither: the canvas knows no other edge.
    const ends = new Set(given.map((x) => x.name));
    return [...edges.values()].filter((e) => ends.has(e.source));
  }, [given, view]);
  const lines = useMemo(() => graphOf(tasks).edges, [tasks]);
  const scene: Scene = useMemo(() => {
    const spots = new Map(
      tasks.map((x) => [x.name, spotOf(states?.get(x.name)?.state, { dim: bright !== undefined && !bright.has(x.name) })]),
    );
    return { points, size, edges: lines, spots, direction };
  }, [tasks, states, bright, points, lines, direction]);
  const said = useCallback(
    (task: string) => {
      const state = states?.get(task)?.state;
      return state ? `${task} · ${word(t, "state", state)}` : task;
    },
    [states, t],
  );
  return { nodes, edges, scene, said };
}
