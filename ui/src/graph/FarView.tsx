import "./far.css";
import { useReactFlow, useStore, useStoreApi } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { HitGrid } from "../domain/graph/hit";
import { near } from "../domain/graph/view";
import { useSay } from "../i18n";
import { readPalette, watchTheme } from "./palette";
import { drawScene, type Scene } from "./scene";

/** farBelow is the zoom under which names can not be read: one canvas draws all, and no node is in the document. */
export const farBelow = 0.35;

/** useFar says that the canvas is zoomed out so far that FarView draws it: give ReactFlow no nodes and no edges then. */
export function useFar(): boolean {
  return useStore((s) => s.transform[2] < farBelow);
}

interface Props {
  /** What is drawn; a new object whenever something in it has changed. */
  scene: Scene;
  /** The task that is ringed beside those that the scene says are chosen. */
  chosen?: string;
  /** What the pointer's tip says of a task, such as its name and state. */
  tip: (task: string) => string;
  onChoose?: (task: string) => void;
}

interface Tip {
  task: string;
  x: number;
  y: number;
}

// A node of a few pixels is still hit by a finger this near (CSS pixels).
const reach = 6;

/**
 * FarView draws a graph from afar inside a ReactFlow: mount it as its child, always. It is empty while
 * the nodes are near. A click zooms to the task and chooses it; pan and zoom stay ReactFlow's.
 */
export function FarView(props: Props) {
  return useFar() ? <Sheet {...props} /> : null;
}

function Sheet({ scene: plain, chosen, tip, onChoose }: Props) {
  const scene = useMemo(() => {
    if (chosen === undefined) return plain;
    return { ...plain, spots: new Map(plain.spots).set(chosen, { ...plain.spots.get(chosen), chosen: true }) };
  }, [plain, chosen]);
  const { t } = useSay();
  const store = useStoreApi();
  const flow = useReactFlow();
  const canvas = useRef<HTMLCanvasElement>(null);
  const grid = useMemo(() => new HitGrid(scene.points, scene.size), [scene.points, scene.size]);
  const [over, setOver] = useState<Tip>();
  useEffect(() => paint(canvas.current, scene, store), [scene, store]);
  useEffect(() => {
    const pane = store.getState().domNode;
    if (!pane) return;
    const hit = (event: MouseEvent) => {
      if (!(event.target instanceof Element) || !event.target.closest(".react-flow__pane")) return undefined;
      const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
      return grid.at(at, reach / flow.getZoom());
    };
    const move = (event: PointerEvent) => {
      const task = event.buttons === 0 ? hit(event) : undefined;
      const box = pane.getBoundingClientRect();
      pane.classList.toggle("far-over", task !== undefined);
      setOver(task === undefined ? undefined : { task, x: event.clientX - box.left, y: event.clientY - box.top });
    };
    const leave = () => {
      pane.classList.remove("far-over");
      setOver(undefined);
    };
    const click = (event: MouseEvent) => {
      const task = hit(event);
      const p = task === undefined ? undefined : scene.points[task];
      if (task === undefined || !p) return;
      void flow.setCenter(p.x + scene.size.width / 2, p.y + scene.size.height / 2, { zoom: near });
      onChoose?.(task);
    };
    pane.addEventListener("pointermove", move);
    pane.addEventListener("pointerleave", leave);
    pane.addEventListener("click", click);
    return () => {
      leave();
      pane.removeEventListener("pointermove", move);
      pane.removeEventListener("pointerleave", leave);
      pane.removeEventListener("click", click);
    };
  }, [flow, grid, onChoose, scene, store]);
  return (
    <>
      <canvas ref={canvas} className="far-view" role="img" aria-label={t("graph.far", { count: Object.keys(scene.points).length })} />
      {over && (
        <div className="far-tip" style={{ transform: `translate(${over.x + 12}px, ${over.y + 14}px)` }}>
          {tip(over.task)}
        </div>
      )}
    </>
  );
}

/** paint draws at once, and again in the next frame after the viewport, the size or the theme has changed. */
function paint(canvas: HTMLCanvasElement | null, scene: Scene, store: ReturnType<typeof useStoreApi>): (() => void) | undefined {
  const ctx = canvas?.getContext("2d", { alpha: false });
  if (!canvas || !ctx) return undefined;
  let palette = readPalette();
  let asked = 0;
  let drawn = store.getState();
  const draw = () => {
    asked = 0;
    drawn = store.getState();
    const { width, height, transform } = drawn;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w) canvas.width = w;
    if (canvas.height !== h) canvas.height = h;
    drawScene(ctx, scene, { x: transform[0], y: transform[1], zoom: transform[2] }, { width, height }, palette, ratio);
  };
  const ask = () => {
    asked ||= requestAnimationFrame(draw);
  };
  draw();
  const leave = store.subscribe((s) => {
    if (s.transform !== drawn.transform || s.width !== drawn.width || s.height !== drawn.height) ask();
  });
  const rest = watchTheme(() => {
    palette = readPalette();
    ask();
  });
  return () => {
    leave();
    rest();
    cancelAnimationFrame(asked);
  };
}
