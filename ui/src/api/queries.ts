import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ApiError, answer, api, type Instance, type InstanceEvent, type PreviewOptions, type Task } from "./client";

// Every read of the server, with its key. Lists of one instance are read whole: the
// server bounds a page, the definition bounds the tasks.

export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: async ({ signal }) => {
    try {
      return await answer(api.GET("/session", { signal }));
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: 5 * 60_000,
});

export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => pages((cursor) => answer(api.GET("/projects", { params: { query: { cursor, limit: 200 } }, signal }))),
});

export const workflowsQuery = (project: string) =>
  queryOptions({
    queryKey: ["workflows", project],
    queryFn: ({ signal }) =>
      pages((cursor) =>
        answer(api.GET("/projects/{project}/workflows", { params: { path: { project }, query: { cursor, limit: 200 } }, signal })),
      ),
  });

export const workflowQuery = (project: string, workflow: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow],
    queryFn: ({ signal }) =>
      answer(api.GET("/projects/{project}/workflows/{workflow}", { params: { path: { project, workflow } }, signal })),
  });

export const versionsQuery = (project: string, workflow: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow, "versions"],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/versions", {
          params: { path: { project, workflow }, query: { limit: 50 } },
          signal,
        }),
      ),
  });

export const versionQuery = (project: string, workflow: string, version: number) =>
  queryOptions({
    queryKey: ["version", project, workflow, version],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/versions/{version}", {
          params: { path: { project, workflow, version: String(version) } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const graphQuery = (project: string, workflow: string, version: number) =>
  queryOptions({
    queryKey: ["graph", project, workflow, version],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/versions/{version}/graph", {
          params: { path: { project, workflow, version: String(version) } },
          signal,
        }),
      ),
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });

export const layoutQuery = (project: string, workflow: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow, "layout"],
    queryFn: ({ signal }) =>
      answer(api.GET("/projects/{project}/workflows/{workflow}/layout", { params: { path: { project, workflow } }, signal })),
  });

export interface InstanceFilter {
  project?: string;
  workflow?: string;
  state?: string;
  from?: string;
  to?: string;
  // These look into the rows: only the list takes them, and its pages may be short.
  version?: number;
  by?: string;
  param?: string;
  longer?: string;
  acknowledged?: "yes" | "no";
  trigger?: Instance["trigger"];
  late?: boolean; // only what runs for longer than ever
  worker?: string; // only those of which it had an attempt
  outline?: boolean; // whether each has its outline, too
}

export const instancesQuery = (filter: InstanceFilter, limit = 100) =>
  infiniteQueryOptions({
    queryKey: ["instances", "list", filter, limit],
    queryFn: ({ pageParam, signal }) =>
      answer(api.GET("/instances", { params: { query: { ...filter, cursor: pageParam || undefined, limit } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

export const countsQuery = (filter: Omit<InstanceFilter, "state">) =>
  queryOptions({
    queryKey: ["instances", "counts", filter],
    queryFn: ({ signal }) => answer(api.GET("/instances/counts", { params: { query: filter }, signal })),
  });

/**
 * viewQuery reads an instance with all its tasks in one request. The first of a page brings the graph and
 * the canvas along, which then stand in their own queries' cache.
 */
export const viewQuery = (id: string) =>
  queryOptions({
    queryKey: ["instance", id, "view"],
    queryFn: async ({ client, queryKey, signal }) => {
      const drawing = client.getQueryData(queryKey) === undefined;
      const view = await answer(api.GET("/instances/{id}/view", { params: { path: { id }, query: { drawing } }, signal }));
      const { project, workflow, version } = view.instance;
      const { graph, layout, ...rest } = view;
      if (graph) client.setQueryData(graphQuery(project, workflow, version).queryKey, graph);
      if (layout) client.setQueryData(layoutQuery(project, workflow).queryKey, layout);
      return rest;
    },
  });

export const instanceQuery = (id: string) => ({ ...viewQuery(id), select: instanceOf });
export const tasksQuery = (id: string) => ({ ...viewQuery(id), select: tasksOf });

// Not written in place: a selector that is the same function runs again only for new data.
const instanceOf = (view: { instance: Instance; tasks: Task[] }) => view.instance;
const tasksOf = (view: { instance: Instance; tasks: Task[] }) => view.tasks;

export const attemptsQuery = (id: string, task: string) =>
  queryOptions({
    queryKey: ["instance", id, "attempts", task],
    queryFn: async ({ signal }) =>
      // The server gives the latest first; a person counts from the first.
      (await answer(api.GET("/instances/{id}/tasks/{task}/attempts", { params: { path: { id, task } }, signal }))).items.toSorted(
        (a, b) => a.number - b.number,
      ),
  });

export const eventsQuery = (id: string) =>
  queryOptions({
    queryKey: ["instance", id, "events"],
    queryFn: ({ signal }): Promise<InstanceEvent[]> =>
      pages((cursor) => answer(api.GET("/instances/{id}/events", { params: { path: { id }, query: { cursor, limit: 200 } }, signal }))),
  });

export const explainQuery = (id: string, task?: string) =>
  queryOptions({
    queryKey: ["instance", id, "explain", task ?? ""],
    queryFn: ({ signal }) => answer(api.GET("/instances/{id}/explain", { params: { path: { id }, query: { task } }, signal })),
  });

export type PreviewedVerb = "pause" | "resume" | "stop" | "kill" | "skip" | "force_success" | "recover" | "rerun";
export type RerunScope = "only" | "upstream" | "downstream";

export const previewQuery = (id: string, verb: PreviewedVerb, task?: string, scope?: RerunScope) =>
  queryOptions({
    queryKey: ["instance", id, "preview", verb, task ?? "", scope ?? ""],
    queryFn: ({ signal }) => answer(api.GET("/instances/{id}/preview", { params: { path: { id }, query: { verb, task, scope } }, signal })),
    gcTime: 0,
  });

export const workersQuery = queryOptions({
  queryKey: ["cluster", "workers"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/workers", { signal })),
});

export const mastersQuery = queryOptions({
  queryKey: ["cluster", "masters"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/masters", { signal })),
});

/** taskTypesQuery has the schemas of the forms; they change with the server's version only. */
export const taskTypesQuery = queryOptions({
  queryKey: ["task-types"],
  queryFn: ({ signal }) => answer(api.GET("/task-types", { signal })),
  staleTime: Number.POSITIVE_INFINITY,
});

/** parametersQuery works parameters out; it is a POST only because a whole text goes with it. */
export const parametersQuery = (project: string, workflow: string, body: PreviewOptions) =>
  queryOptions({
    queryKey: ["parameters", project, workflow, body],
    queryFn: ({ signal }) =>
      answer(api.POST("/projects/{project}/workflows/{workflow}/parameters", { params: { path: { project, workflow } }, body, signal })),
    gcTime: 0,
    retry: false,
  });

/** maxPages bounds what is read as one list: 10,000 rows, which is the most tasks a workflow may have. */
const maxPages = 50;

export async function pages<T>(read: (cursor: string | undefined) => Promise<{ items: T[]; next_cursor?: string }>): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  for (let n = 0; n < maxPages; n++) {
    const page = await read(cursor);
    all.push(...page.items);
    if (!page.next_cursor) break;
    cursor = page.next_cursor;
  }
  return all;
}
