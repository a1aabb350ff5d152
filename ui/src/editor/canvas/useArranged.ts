import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import type { Direction, Points } from "../../domain/graph/layout";
import { towards } from "../../domain/graph/layout";
import { layoutInWorker } from "../../graph/layoutClient";
import { useDoc, useDocument } from "../context";
import { Arranger, directionOf } from "./arrange";

/** Standing is where the tasks stand, and which way the canvas runs. */
export interface Standing {
  /** points is undefined until the worker has placed a long workflow for the first time. */
  readonly points: Points | undefined;
  readonly direction: Direction;
  readonly turn: (direction: Direction) => void;
}

/** useArranged gives every task a place: saved ones win, new ones stand beside those they need. */
export function useArranged(): Standing {
  const doc = useDocument();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const saved = useDoc((s) => s.history.places);
  const arranger = useRef<Arranger>(undefined);
  arranger.current ??= new Arranger();
  const own = arranger.current;
  const [direction, setDirection] = useState<Direction>(() => directionOf(tasks, saved, "LR"));
  const [taken, setTaken] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was taken from the worker changes what the arranger knows
  const arranged = useMemo(() => own.arrange(tasks, saved, direction), [own, tasks, saved, direction, taken]);
  useLayoutEffect(() => {
    doc.drawn = arranged.drawn;
  }, [doc, arranged]);
  useEffect(() => {
    if (arranged.missing === 0) return;
    const stop = new AbortController();
    layoutInWorker(tasks, towards(direction), arranged.points, stop.signal).then(
      (points) => {
        own.take(points);
        setTaken((n) => n + 1);
      },
      (error: unknown) => {
        if (!stop.signal.aborted) console.error("the layout worker failed", error);
      },
    );
    return () => stop.abort();
  }, [own, tasks, direction, arranged]);
  // A layout that is undone or done again turns the canvas with it.
  const before = useRef(saved);
  useEffect(() => {
    const names = Object.keys(saved);
    const moved = names.filter((n) => saved[n] !== before.current[n]).length;
    before.current = saved;
    if (moved > 1 && moved > names.length / 2) setDirection((d) => directionOf(tasks, saved, d));
  }, [saved, tasks]);
  const shown = tasks.length === 0 || Object.keys(arranged.points).length > 0;
  return { points: shown ? arranged.points : undefined, direction, turn: setDirection };
}
