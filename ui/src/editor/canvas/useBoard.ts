import { useReactFlow, useStoreApi } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Direction, defaults, type Point, type Points } from "../../domain/graph/layout";
import { fitAll, opening } from "../../domain/graph/view";
import { farBelow } from "../../graph/FarView";
import { useSay } from "../../i18n";
import { useDoc, useDocument } from "../context";
import { Acts, type Surroundings } from "./acts";
import { type CanvasStore, newCanvas } from "./ui";
import { useReadOnly } from "./useReadOnly";
import { useReveal } from "./useReveal";

const { size } = defaults;

/** BoardParts is what the parts of one canvas share. */
export interface BoardParts {
  readonly acts: Acts;
  readonly ui: CanvasStore;
  readonly locked: string | undefined;
  readonly fit: () => void;
  /** fly brings a task into view, and gives it the focus if asked to. */
  readonly fly: (task: string, focus: boolean) => void;
}

interface Props {
  points: Points;
  direction: Direction;
  turn: (direction: Direction) => void;
  frame: RefObject<HTMLDivElement | null>;
}

/** useBoard makes the acts of a canvas and keeps them told of what is around them. */
export function useBoard({ points, direction, turn, frame }: Props): BoardParts {
  const { t } = useSay();
  const doc = useDocument();
  const flow = useReactFlow();
  const store = useStoreApi();
  const flight = useReveal(points);
  const [ui] = useState(newCanvas);
  const good = useDoc((s) => s.reading.good);
  const readOnly = useReadOnly();
  const locked = readOnly ?? (good ? undefined : t("canvas.brokenLock"));
  const pointer = usePointer(frame);
  const around = useRef<Surroundings>(undefined);
  const latest = useRef({ points, flight });
  latest.current = { points, flight };
  const focus = useCallback(
    // After the command has been drawn: what it made is mounted, or will be when the view has come to it.
    (task: string | undefined) =>
      requestAnimationFrame(() => {
        // A window that was opened since keeps the focus that it has taken.
        if (ui.getState().layer) return;
        if (task !== undefined && latest.current.points[task]) latest.current.flight(task, true);
        else frame.current?.querySelector<HTMLElement>(".canvas-flow")?.focus({ preventScroll: true });
      }),
    [frame, ui],
  );
  around.current = {
    t,
    points,
    direction,
    locked,
    middle: () => {
      const { width, height } = store.getState();
      const box = frame.current?.getBoundingClientRect();
      return flow.screenToFlowPosition({ x: (box?.left ?? 0) + width / 2, y: (box?.top ?? 0) + height / 2 });
    },
    pointer: () => (pointer.current ? flow.screenToFlowPosition(pointer.current) : undefined),
    screenOf: (task) => {
      const p = task === undefined ? undefined : points[task];
      if (p) return flow.flowToScreenPosition({ x: p.x + size.width + 8, y: p.y });
      const box = frame.current?.getBoundingClientRect();
      return { x: (box?.left ?? 0) + (box?.width ?? 0) / 2 - 120, y: (box?.top ?? 0) + 80 };
    },
    focus,
    turn,
    // After what was done has been drawn.
    fit: () =>
      requestAnimationFrame(() => {
        const { width, height } = store.getState();
        void flow.setViewport(opening(latest.current.points, size, { width, height }, doc.state.history.selection.tasks.at(-1)));
      }),
  };
  const acts = useMemo(
    () =>
      new Acts(doc, ui, () => {
        if (!around.current) throw new Error("the canvas has not been drawn");
        return around.current;
      }),
    [doc, ui],
  );
  const fit = useCallback(() => {
    const { width, height } = store.getState();
    const view = fitAll(latest.current.points, size, { width, height });
    if (view.zoom >= farBelow || flow.getZoom() < farBelow) return void flow.setViewport(view);
    // Otherwise all nodes would be on the screen, and made, in the moment before the far view takes over.
    ui.setState({ leaving: true });
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        void flow.setViewport(view);
        ui.setState({ leaving: false });
      }),
    );
  }, [flow, store, ui]);
  useEffect(() => {
    window.addEventListener("porpoise:fit", fit);
    return () => window.removeEventListener("porpoise:fit", fit);
  }, [fit]);
  const fly = useCallback((task: string, take: boolean) => latest.current.flight(task, take), []);
  return { acts, ui, locked, fit, fly };
}

// Where the pointer is over the canvas, in the window's pixels; not when a key moved the focus since.
function usePointer(frame: RefObject<HTMLDivElement | null>): RefObject<Point | undefined> {
  const at = useRef<Point>(undefined);
  useEffect(() => {
    const here = frame.current;
    const move = (event: PointerEvent) => {
      at.current = { x: event.clientX, y: event.clientY };
    };
    const leave = () => {
      at.current = undefined;
    };
    here?.addEventListener("pointermove", move);
    here?.addEventListener("pointerleave", leave);
    return () => {
      here?.removeEventListener("pointermove", move);
      here?.removeEventListener("pointerleave", leave);
    };
  }, [frame]);
  return at;
}
