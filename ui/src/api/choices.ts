import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { pages } from "./queries";
import type { components } from "./schema";

// What a form offers for names of things that stand elsewhere.

export type TaskGroup = components["schemas"]["TaskGroup"];
export type DateValue = components["schemas"]["DateValue"];

/** taskGroupsQuery lists the task groups of a project with their use. */
export const taskGroupsQuery = (project: string) =>
  queryOptions({
    queryKey: ["task-groups", project],
    queryFn: ({ signal }) =>
      pages((cursor) =>
        answer(api.GET("/projects/{project}/task-groups", { params: { path: { project }, query: { cursor, limit: 200 } }, signal })),
      ),
    staleTime: 5000,
  });

/** datesQuery says which intervals the dates of dependent tasks mean at a schedule time; "" is now. */
export const datesQuery = (at: string, timezone: string) =>
  queryOptions({
    queryKey: ["dates", at, timezone],
    queryFn: ({ signal }) => answer(api.GET("/dates", { params: { query: { at: at || undefined, timezone } }, signal })),
    placeholderData: (before) => before,
    staleTime: 60_000,
  });
