import { useEffect, useRef, useState } from "react";
import type { GraphTask } from "../domain/graph/model";
import type { Direction, Points } from "../domain/graph/shape";
import { towards } from "../domain/graph/shape";
import { layoutInWorker } from "./layoutClient";

interface Done {
  direction: Direction;
  saved: Points | undefined;
  points: Points;
}

// By identity and not by content: a key of 2,000 tasks would be written out at every render. The
// cache of the server's answers keeps an unchanged answer the same object.
const kept = new WeakMap<readonly GraphTask[], Done[]>();

function recall(tasks: readonly GraphTask[], direction: Direction, saved: Points | undefined): Points | undefined {
  return kept.get(tasks)?.find((d) => d.direction === direction && d.saved === saved)?.points;
}

function remember(tasks: readonly GraphTask[], done: Done): void {
  const others = kept.get(tasks)?.filter((d) => d.direction !== done.direction) ?? [];
  kept.set(tasks, [...others, done]);
}

/** Layout is the places, or why there are none yet. */
export interface Layout {
  points: Points | undefined;
  error: Error | undefined;
  retry: () => void;
}

/** useLayout gives the nodes' places: those that were saved win, the rest is arranged beside them. */
export function useLayout(tasks: readonly GraphTask[], direction: Direction, saved: Points | undefined): Layout {
  const [tries, setTries] = useState(0);
  const [failed, setFailed] = useState<{ tasks: readonly GraphTask[]; error: Error }>();
  const [, setDone] = useState<Points>();
  const shown = useRef<Done>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another try is the same question asked again
  useEffect(() => {
    if (recall(tasks, direction, saved)) return;
    const stop = new AbortController();
    layoutInWorker(tasks, towards(direction), saved, stop.signal).then(
      (points) => {
        remember(tasks, { direction, saved, points });
        setDone(points);
      },
      (error: Error) => !stop.signal.aborted && setFailed({ tasks, error }),
    );
    return () => stop.abort();
  }, [tasks, direction, saved, tries]);
  const points = recall(tasks, direction, saved);
  if (points) shown.current = { direction, saved, points };
  // The same tasks of which more is known stay where they are until they have their new places.
  const before = shown.current?.direction === direction ? shown.current.points : undefined;
  return {
    points: points ?? (before && tasks.every((task) => before[task.name]) ? before : undefined),
    error: failed?.tasks === tasks ? failed.error : undefined,
    retry: () => {
      setFailed(undefined);
      setTries((n) => n + 1);
    },
  };
}
