import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useCallback, useMemo } from "react";
import type { GraphTask } from "../domain/graph/model";
import { type Direction, defaults, type Points } from "../domain/graph/shape";
import { beside, near, nudged, readable, sees } from "../domain/graph/view";
import { isStep, Walker } from "../domain/graph/walk";

// How the view and the focus go to a task, by find, by follow and by the arrow keys.

const { size } = defaults;
const flight = 180;
const still = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Fly brings a task into view where it is not, smoothly if asked to and the way is short, and gives it the focus if asked to. */
export type Fly = (task: string, smooth: boolean, focus?: boolean) => void;

/** useFlight gives the way to fly to a task; it must be used inside a ReactFlowProvider. */
export function useFlight(points: Points): Fly {
  const flow = useReactFlow();
  const store = useStoreApi();
  return useCallback(
    (task, smooth, focus = false) => {
      const p = points[task];
      if (!p) return;
      const { width, height, domNode } = store.getState();
      const camera = flow.getViewport();
      if (camera.zoom < readable || !sees(camera, p, size, { width, height })) {
        const zoom = camera.zoom < readable ? near : camera.zoom;
        // Of a flight over many screens nothing is seen, and all of them would be drawn.
        const close = camera.zoom >= readable && beside(camera, p, size, { width, height });
        const duration = smooth && close && !still.matches ? flight : 0;
        // A step by the arrows leaves the screen where it is but for a little: of its nodes most stay, and few are drawn.
        if (focus && close) void flow.setViewport(nudged(camera, p, size, { width, height }));
        else void flow.setCenter(p.x + size.width / 2, p.y + size.height / 2, { zoom, duration });
      }
      if (focus) focusSoon(domNode, task);
    },
    [flow, store, points],
  );
}

// A node off the screen is mounted a frame or two after the view has come to it.
const patience = 30;

function focusSoon(root: HTMLElement | null, task: string, frames = patience): void {
  const node = root?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(task)}"]`);
  if (node) node.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusSoon(root, task, frames - 1));
}

interface Walk {
  tasks: readonly GraphTask[];
  points: Points;
  direction: Direction;
  /** Where the arrow keys begin when no node has the focus. */
  start: string | undefined;
  fly: Fly;
  onChoose: ((task: string) => void) | undefined;
}

/** useWalk gives the canvas's key handler: arrows follow edges and siblings, Enter and Space choose. */
export function useWalk({ tasks, points, direction, start, fly, onChoose }: Walk) {
  const walker = useMemo(() => new Walker(tasks, points, defaults.size, direction), [tasks, points, direction]);
  return useCallback(
    (event: React.KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : undefined;
      if (event.ctrlKey || event.metaKey || event.altKey || target?.closest("input, button")) return;
      const here = target?.closest(".react-flow__node")?.getAttribute("data-id") ?? undefined;
      const chooses = event.key === "Enter" || event.key === " ";
      if (!chooses && !isStep(event.key)) return;
      event.preventDefault();
      if (here === undefined) {
        if (start !== undefined) fly(start, false, true);
      } else if (chooses) onChoose?.(here);
      else if (isStep(event.key)) {
        const next = walker.go(here, event.key);
        if (next !== undefined) fly(next, false, true);
      }
    },
    [walker, start, fly, onChoose],
  );
}
