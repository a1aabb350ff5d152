import type { Graph } from "../api/client";

export type GraphTask = Graph["tasks"][number];
