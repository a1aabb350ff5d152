import { useReactFlow, useStoreApi } from "@xyflow/react";
import { useCallback } from "react";
import { defaults, type Points } from "../../domain/graph/shape";
import { centre, near, readable } from "../../domain/graph/view";
import { isTyping } from "./typing";

const { size } = defaults;
// As far from the rim as a badge and a ring need, and as the tools at the bottom stand.
const rim = { side: 32, bottom: 72 };
const flight = 160;
// A node off the screen is mounted a frame or two after the view has come to it.
const patience = 30;

/** useReveal moves the view no further than it takes to see a task, and gives the task the focus if asked to. */
export function useReveal(points: Points): (task: string, focus: boolean) => void {
  const flow = useReactFlow();
  const store = useStoreApi();
  return useCallback(
    (task, focus) => {
      const p = points[task];
      if (!p) return;
      const { width, height, domNode } = store.getState();
      const camera = flow.getViewport();
      const duration = window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : flight;
      if (camera.zoom < readable) void flow.setViewport(centre(p, size, { width, height }, near), { duration });
      else {
        const x = shift(p.x * camera.zoom + camera.x, size.width * camera.zoom, rim.side, width - rim.side);
        const y = shift(p.y * camera.zoom + camera.y, size.height * camera.zoom, rim.side, height - rim.bottom);
        if (x !== 0 || y !== 0) void flow.setViewport({ ...camera, x: camera.x + x, y: camera.y + y }, { duration });
      }
      if (focus) focusSoon(domNode, task, patience);
    },
    [flow, store, points],
  );
}

/** shift tells by how much to move a stretch so that it lies between two ends; one that is too long begins at the first. */
export function shift(at: number, length: number, from: number, to: number): number {
  if (at < from || length > to - from) return from - at;
  return Math.min(0, to - at - length);
}

function focusSoon(root: HTMLElement | null, task: string, frames: number): void {
  // Where a person types by now, the focus stays.
  if (isTyping(document.activeElement)) return;
  const node = root?.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(task)}"]`);
  if (node) node.focus({ preventScroll: true });
  else if (frames > 0) requestAnimationFrame(() => focusSoon(root, task, frames - 1));
}
