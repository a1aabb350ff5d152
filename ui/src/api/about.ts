import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Instance } from "./client";
import { pages, versionQuery, viewQuery } from "./queries";
import type { components } from "./schema";

// Reads of what a task of the master's own waits for, or has chosen.

export type Dependency = components["schemas"]["Dependency"];

/** approvalsOfQuery are the approvals of an instance: they come with its view. */
export const approvalsOfQuery = (id: string) => ({ ...viewQuery(id), select: approvalsIn });

const approvalsIn = (view: { approvals?: components["schemas"]["Approval"][] | null }) => view.approvals ?? [];

/** childrenQuery lists all children of an instance, the latest first. Its key has news of any instance read it anew. */
export const childrenQuery = (id: string) =>
  queryOptions({
    queryKey: ["instances", "children", id],
    queryFn: ({ signal }): Promise<Instance[]> =>
      pages((cursor) => answer(api.GET("/instances/{id}/children", { params: { path: { id }, query: { cursor, limit: 200 } }, signal }))),
  });

/** dependenciesQuery lists what a dependent task waits for; the end of another workflow's instance is news, too. */
export const dependenciesQuery = (id: string, task: string) =>
  queryOptions({
    queryKey: ["instances", "dependencies", id, task],
    queryFn: ({ signal }) => answer(api.GET("/instances/{id}/tasks/{task}/dependencies", { params: { path: { id, task } }, signal })),
  });

/** waitersQuery lists who waits, or waited, for an instance; the end of any of them is news. */
export const waitersQuery = (id: string) =>
  queryOptions({
    queryKey: ["instances", "waiters", id],
    queryFn: ({ signal }) => answer(api.GET("/instances/{id}/waiters", { params: { path: { id } }, signal })),
  });

/** tasksOfVersionQuery reads the tasks of a version as its text has them. */
export const tasksOfVersionQuery = (project: string, workflow: string, version: number) =>
  queryOptions({
    queryKey: ["tasks", project, workflow, version],
    queryFn: async ({ client }) => {
      const { text } = await client.fetchQuery(versionQuery(project, workflow, version));
      return (await import("../domain/document/read")).read(text).model.tasks;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
