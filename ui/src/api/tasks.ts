import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

// Tasks of all instances that run or wait now.

export type LiveTask = components["schemas"]["LiveTask"];

export interface LiveTaskFilter {
  is: "running" | "waiting";
  project?: string;
  workflow?: string;
  worker?: string;
  worker_group?: string;
  task_group?: string;
  task?: string;
  state?: string;
  older?: string;
}

/** liveTasksQuery is read again when the stream tells of instances, not with each word of it: the server walks for its answer. */
export const liveTasksQuery = (filter: LiveTaskFilter, limit = 100) =>
  infiniteQueryOptions({
    queryKey: ["live-tasks", filter, limit],
    queryFn: ({ pageParam, signal }) =>
      answer(api.GET("/tasks", { params: { query: { ...filter, cursor: pageParam || undefined, limit } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

/** instanceRowQuery reads an instance without its tasks. */
export const instanceRowQuery = (id: string) =>
  queryOptions({
    queryKey: ["instance", id, "row"],
    queryFn: ({ signal }) => answer(api.GET("/instances/{id}", { params: { path: { id } }, signal })),
  });
