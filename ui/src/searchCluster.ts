import { oneOf, type Raw, text } from "./search";

// What the cluster page keeps in its address.

export const clusterTabs = ["slots", "workers", "queues", "timers", "failovers", "supervisor", "config"] as const;
export type ClusterTab = (typeof clusterTabs)[number];

const clusterActs = ["rebalance", "hold", "release"] as const;

export interface ClusterSearch {
  view?: "table"; // the slots, or the firings of timers, as a table instead of a map
  num?: "1"; // counts are in the cells
  slot?: string; // whose work is shown
  w?: string; // the worker that is open
  q?: string; // a part of the workers' names
  group?: string; // the task group that is open: project/name
  kind?: "master" | "worker"; // of failovers
  state?: "asked" | "applied" | "done" | "error"; // of recoveries
  drain?: string; // the dialog about a worker
  kill?: string; // the dialog about a node of a demo
  do?: (typeof clusterActs)[number]; // the dialog about the whole cluster
}

export function clusterSearch(raw: Raw): ClusterSearch {
  const slot = text(raw, "slot", 5);
  return {
    view: oneOf(raw, "view", ["table"] as const),
    num: oneOf(raw, "num", ["1"] as const),
    slot: slot !== undefined && /^\d+$/.test(slot) ? slot : undefined,
    w: text(raw, "w", 128),
    q: text(raw, "q", 128),
    group: text(raw, "group", 1100),
    kind: oneOf(raw, "kind", ["master", "worker"] as const),
    state: oneOf(raw, "state", ["asked", "applied", "done", "error"] as const),
    drain: text(raw, "drain", 128),
    kill: text(raw, "kill", 128),
    do: oneOf(raw, "do", clusterActs),
  };
}
