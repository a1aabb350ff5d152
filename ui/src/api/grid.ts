import { queryOptions } from "@tanstack/react-query";
import type { Zone } from "../domain/format";
import { type Answer, type Grid, joined } from "../domain/grid/grid";
import { plus, startOf } from "../domain/schedule/days";
import type { GridSearch } from "../searchGrid";
import { answer, api } from "./client";
import type { components } from "./schema";

// What the grid of a workflow reads and asks for.

export type TaskRun = components["schemas"]["TaskRun"];
export type RerunPreview = components["schemas"]["RerunPreview"];

export interface GridOf {
  project: string;
  workflow: string;
  state?: string; // of instances, comma-separated
  limit?: number;
  until?: string; // the moment before which they were created
}

export const gridLimit = 30;

/** gridOf is the grid that an address asks for. */
export function gridOf(
  project: string,
  workflow: string,
  { only, n, until }: Pick<GridSearch, "only" | "n" | "until">,
  zone: Zone = "browser",
): GridOf {
  const state = only === "running" ? "running,pausing,paused,stopping" : only;
  // The day that is chosen is shown whole, by the page's clock.
  const end = until === undefined ? undefined : new Date(startOf(plus(until, 1), zone)).toISOString();
  return { project, workflow, state, limit: Number(n ?? gridLimit), until: end };
}

function read(
  { project, workflow, state, limit = gridLimit, until }: GridOf,
  more: { before?: string; ids?: string },
  signal?: AbortSignal,
): Promise<Answer> {
  return answer(
    api.GET("/projects/{project}/workflows/{workflow}/grid", {
      params: { path: { project, workflow }, query: { state, limit, until, ...more } },
      signal: signal ?? null,
    }),
  );
}

/** mediansQuery is how long the tasks of a workflow take, by its last instances. */
export const mediansQuery = (project: string, workflow: string) =>
  queryOptions({
    queryKey: ["medians", project, workflow],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, number>> => {
      const { tasks, median_ms } = await read({ project, workflow }, {}, signal);
      return new Map(tasks.map((name, i) => [name, median_ms[i] ?? 0]));
    },
    staleTime: 60_000,
  });

/** gridQuery reads the newest columns; what stood left of them before stays. */
export const gridQuery = (of: GridOf) =>
  queryOptions({
    queryKey: ["grid", of.project, of.workflow, of.state ?? "", of.limit ?? gridLimit, of.until ?? ""],
    queryFn: async ({ client, queryKey, signal }): Promise<Grid> =>
      joined(client.getQueryData<Grid>(queryKey), await read(of, {}, signal), "newest"),
    // A grid is joined from answers: what is equal in two of them is not looked for.
    structuralSharing: false,
  });

export const readOlder = (of: GridOf, before: string): Promise<Answer> => read(of, { before });
export const readColumns = (of: GridOf, ids: string[]): Promise<Answer> =>
  read({ ...of, state: undefined, until: undefined }, { ids: ids.join(",") });

/** historyQuery has one task of the last instances, the newest first. */
export const historyQuery = (of: GridOf, task: string) =>
  queryOptions({
    queryKey: ["grid", of.project, of.workflow, of.state ?? "", of.limit ?? gridLimit, "history", task],
    queryFn: async ({ signal }): Promise<TaskRun[]> =>
      (
        await answer(
          api.GET("/projects/{project}/workflows/{workflow}/tasks/{task}/history", {
            params: {
              path: { project: of.project, workflow: of.workflow, task },
              query: { state: of.state, limit: of.limit ?? gridLimit },
            },
            signal,
          }),
        )
      ).items,
  });

export type Scope = "only" | "downstream";

/** previewRerun says what a new round of some tasks would run. */
export function previewRerun(id: string, tasks: string[], scope: Scope): Promise<RerunPreview> {
  return answer(api.POST("/instances/{id}/rerun/preview", { params: { path: { id } }, body: { tasks, scope } }));
}

/** rerunTasks runs tasks again as a new round; with the preview's token it is refused (409) where that would do something else by now. */
export function rerunTasks(id: string, tasks: string[], scope: Scope, preview: string) {
  return answer(api.POST("/instances/{id}/rerun", { params: { path: { id } }, body: { tasks, scope, preview } }));
}
