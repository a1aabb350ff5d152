import { useSyncExternalStore } from "react";
import type { Direction } from "../domain/graph/shape";

// Which way a person likes graphs to run, kept for this browser.

const key = "porpoise.graph.direction";
const watchers = new Set<() => void>();

function initial(): Direction {
  try {
    return localStorage.getItem(key) === "TB" ? "TB" : "LR";
  } catch {
    return "LR"; // Storage is off.
  }
}

let current: Direction | undefined;

function direction(): Direction {
  current ??= initial();
  return current;
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

/** useDirection gives the direction of graphs and a way to change it. */
export function useDirection(): [Direction, (next: Direction) => void] {
  return [useSyncExternalStore(watch, direction), turn];
}

function turn(next: Direction): void {
  current = next;
  try {
    localStorage.setItem(key, next);
  } catch {
    // Storage is off: the choice lasts for this visit.
  }
  for (const changed of watchers) changed();
}
