import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { pages } from "./queries";
import type { components } from "./schema";

// What a project's tasks share: parameters, secrets, environments, task groups, calendars. Secrets and environments
// without a project are those of all.

type Schemas = components["schemas"];
export type ProjectParam = Schemas["ProjectParam"];
export type Secret = Schemas["Secret"];
export type Environment = Schemas["Environment"];
export type TaskGroup = Schemas["TaskGroup"];
export type GroupTask = Schemas["GroupTask"];
export type Calendar = Schemas["Calendar"];

const key = (what: string, project?: string) => ["settings", project ?? "", what];
const of = (project: string) => ({ params: { path: { project } } });

export const paramsQuery = (project: string) =>
  queryOptions({
    queryKey: key("params", project),
    queryFn: async ({ signal }) => (await answer(api.GET("/projects/{project}/params", { ...of(project), signal }))).items,
  });

export const secretsQuery = (project?: string) =>
  queryOptions({
    queryKey: key("secrets", project),
    queryFn: async ({ signal }) =>
      (
        await answer(
          project === undefined ? api.GET("/secrets", { signal }) : api.GET("/projects/{project}/secrets", { ...of(project), signal }),
        )
      ).items,
  });

export const environmentsQuery = (project?: string) =>
  queryOptions({
    queryKey: key("environments", project),
    queryFn: async ({ signal }) =>
      (
        await answer(
          project === undefined
            ? api.GET("/environments", { signal })
            : api.GET("/projects/{project}/environments", { ...of(project), signal }),
        )
      ).items,
  });

/** No news of places comes by the stream, but places change where instances do. */
export const taskGroupsQuery = (project: string) =>
  queryOptions({
    queryKey: ["instances", "groups", project],
    queryFn: ({ signal }) =>
      pages((cursor) =>
        answer(api.GET("/projects/{project}/task-groups", { params: { path: { project }, query: { cursor, limit: 200 } }, signal })),
      ),
  });

export const taskGroupQuery = (project: string, group: string) =>
  queryOptions({
    queryKey: ["instances", "groups", project, group],
    queryFn: ({ signal }) => answer(api.GET("/projects/{project}/task-groups/{group}", { params: { path: { project, group } }, signal })),
  });

export const calendarsQuery = (project: string) =>
  queryOptions({
    queryKey: key("calendars", project),
    queryFn: async ({ signal }) => (await answer(api.GET("/projects/{project}/calendars", { ...of(project), signal }))).items,
  });

export function putParam(project: string, param: string, value: string, description: string) {
  return answer(api.PUT("/projects/{project}/params/{param}", { params: { path: { project, param } }, body: { value, description } }));
}

export function deleteParam(project: string, param: string) {
  return answer(api.DELETE("/projects/{project}/params/{param}", { params: { path: { project, param } } }));
}

export function putSecret(project: string | undefined, name: string, value: string, description: string) {
  const body = { value, description };
  return answer(
    project === undefined
      ? api.PUT("/secrets/{name}", { params: { path: { name } }, body })
      : api.PUT("/projects/{project}/secrets/{name}", { params: { path: { project, name } }, body }),
  );
}

export function deleteSecret(project: string | undefined, name: string) {
  return answer<unknown>(
    project === undefined
      ? api.DELETE("/secrets/{name}", { params: { path: { name } } })
      : api.DELETE("/projects/{project}/secrets/{name}", { params: { path: { project, name } } }),
  );
}

export function rotateSecretKey() {
  return answer(api.POST("/secret-key/rotate"));
}

export function putEnvironment(project: string | undefined, environment: string, variables: Record<string, string>, description: string) {
  const body = { variables, description };
  return answer(
    project === undefined
      ? api.PUT("/environments/{environment}", { params: { path: { environment } }, body })
      : api.PUT("/projects/{project}/environments/{environment}", { params: { path: { project, environment } }, body }),
  );
}

export function deleteEnvironment(project: string | undefined, environment: string) {
  return answer<unknown>(
    project === undefined
      ? api.DELETE("/environments/{environment}", { params: { path: { environment } } })
      : api.DELETE("/projects/{project}/environments/{environment}", { params: { path: { project, environment } } }),
  );
}

export function putTaskGroup(
  project: string,
  group: string,
  body: { size: number; description: string; rate?: { tasks: number; per: string } },
) {
  return answer(api.PUT("/projects/{project}/task-groups/{group}", { params: { path: { project, group } }, body }));
}

export function deleteTaskGroup(project: string, group: string) {
  return answer(api.DELETE("/projects/{project}/task-groups/{group}", { params: { path: { project, group } } }));
}

export function forceTask(project: string, group: string, instance: string, task: string, reason: string) {
  return answer(
    api.POST("/projects/{project}/task-groups/{group}/force", {
      params: { path: { project, group } },
      body: { instance_id: instance, task, reason },
    }),
  );
}

export function putCalendar(project: string, calendar: string, days: string[]) {
  return answer(api.PUT("/projects/{project}/calendars/{calendar}", { params: { path: { project, calendar } }, body: { days } }));
}

export function deleteCalendar(project: string, calendar: string) {
  return answer(api.DELETE("/projects/{project}/calendars/{calendar}", { params: { path: { project, calendar } } }));
}
