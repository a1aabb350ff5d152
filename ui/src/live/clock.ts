import { useSyncExternalStore } from "react";

// One clock ticks for the whole page, once a second, and only while somebody reads it.

let now = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

function watch(changed: () => void): () => void {
  watchers.add(changed);
  timer ??= setInterval(() => {
    now = Date.now();
    for (const watcher of watchers) watcher();
  }, 1000);
  return () => {
    watchers.delete(changed);
    if (watchers.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

const read = () => now;
const still = () => () => {};

/** useNow gives the time, once a second while ticking is true. */
export function useNow(ticking = true): number {
  if (timer === undefined) now = Date.now();
  return useSyncExternalStore(ticking ? watch : still, read);
}
