import { useReactFlow, useStoreApi } from "@xyflow/react";
import { memo, useEffect, useMemo, useRef } from "react";
import { boundsOf } from "../domain/graph/hit";
import type { Point, Points, Size } from "../domain/graph/shape";
import type { Camera } from "../domain/graph/view";
import { readPalette, watchTheme } from "./palette";
import { drawScene, type Scene } from "./scene";

const box: Size = { width: 180, height: 112 };

/**
 * MiniView is the whole graph in a corner, with the part that is on the screen framed. It is one canvas
 * and one frame, whatever the number of tasks; the chosen task is an element over it, so that a search from task
 * to task draws nothing anew. It is for the pointer only: keys have find and the arrows.
 */
export const MiniView = memo(function MiniView({ scene, chosen }: { scene: Scene; chosen?: string }) {
  const store = useStoreApi();
  const flow = useReactFlow();
  const canvas = useRef<HTMLCanvasElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const { points, size } = scene;
  const camera = useMemo(() => whole(points, size), [points, size]);
  useEffect(() => {
    const ctx = canvas.current?.getContext("2d", { alpha: false });
    if (!canvas.current || !ctx) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.current.width = Math.round(box.width * ratio);
    canvas.current.height = Math.round(box.height * ratio);
    const draw = () => drawScene(ctx, scene, camera, box, readPalette(), ratio);
    draw();
    return watchTheme(draw);
  }, [scene, camera]);
  useEffect(() => {
    let asked = 0;
    const move = () => {
      asked = 0;
      const { transform, width, height } = store.getState();
      if (!frame.current) return;
      const scale = camera.zoom / transform[2];
      const left = camera.x - transform[0] * scale;
      const top = camera.y - transform[1] * scale;
      // All is on the screen: an overview of it only hides a part of it.
      const all = left <= 0 && top <= 0 && left + width * scale >= box.width && top + height * scale >= box.height;
      if (frame.current.parentElement) frame.current.parentElement.hidden = all;
      frame.current.style.transform = `translate(${left}px, ${top}px)`;
      frame.current.style.width = `${width * scale}px`;
      frame.current.style.height = `${height * scale}px`;
    };
    move();
    const leave = store.subscribe((now, old) => {
      if (now.transform !== old.transform || now.width !== old.width || now.height !== old.height) asked ||= requestAnimationFrame(move);
    });
    return () => {
      leave();
      cancelAnimationFrame(asked);
    };
  }, [store, camera]);
  const go = (event: React.PointerEvent<HTMLDivElement>) => {
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    if (event.buttons === 0) return;
    const at = event.currentTarget.getBoundingClientRect();
    const x = (event.clientX - at.left - camera.x) / camera.zoom;
    const y = (event.clientY - at.top - camera.y) / camera.zoom;
    void flow.setCenter(x, y, { zoom: flow.getZoom() });
  };
  const at = chosen === undefined ? undefined : spotIn(scene, camera, chosen);
  return (
    <div className="mini-view" aria-hidden onPointerDown={go} onPointerMove={go}>
      <canvas ref={canvas} />
      {at && <i className="mini-mark" style={{ transform: `translate(${at.x}px, ${at.y}px)` }} />}
      <div ref={frame} className="mini-frame" />
    </div>
  );
});

/** spotIn is where the middle of a task is in the overview. */
function spotIn({ points, size }: Scene, camera: Camera, task: string): Point | undefined {
  const p = points[task];
  return p && { x: camera.x + (p.x + size.width / 2) * camera.zoom, y: camera.y + (p.y + size.height / 2) * camera.zoom };
}

function whole(points: Points, size: Size): Camera {
  const all = boundsOf(points, size);
  const zoom = Math.min((box.width - 12) / Math.max(1, all.width), (box.height - 12) / Math.max(1, all.height), 0.2);
  return { x: box.width / 2 - (all.x + all.width / 2) * zoom, y: box.height / 2 - (all.y + all.height / 2) * zoom, zoom };
}
