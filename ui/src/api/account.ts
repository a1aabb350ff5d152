import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { pages } from "./queries";
import type { components } from "./schema";

// What the pages of people, projects and workflow lists read and write.

type Schemas = components["schemas"];
export type ProjectOverview = Schemas["ProjectOverview"];
export type WorkflowOverview = Schemas["WorkflowOverview"];
export type Member = Schemas["Member"];
export type Token = Schemas["Token"];
export type Session = Schemas["Session"];

const limit = 200;

export const overviewQuery = queryOptions({
  queryKey: ["overview", "projects"],
  queryFn: ({ signal }): Promise<ProjectOverview[]> =>
    pages((cursor) => answer(api.GET("/overview", { params: { query: { cursor, limit } }, signal }))),
});

export const workflowOverviewQuery = (project: string) =>
  queryOptions({
    queryKey: ["overview", "workflows", project],
    queryFn: ({ signal }): Promise<WorkflowOverview[]> =>
      pages((cursor) =>
        answer(api.GET("/projects/{project}/overview", { params: { path: { project }, query: { cursor, limit } }, signal })),
      ),
  });

export const membersQuery = (project: string) =>
  queryOptions({
    queryKey: ["members", project],
    queryFn: async ({ signal }) => (await answer(api.GET("/projects/{project}/members", { params: { path: { project } }, signal }))).items,
  });

/** usersQuery is for admins: nobody else may list who is there. */
export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: ({ signal }) => pages((cursor) => answer(api.GET("/users", { params: { query: { cursor, limit } }, signal }))),
});

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => (await answer(api.GET("/sessions", { signal }))).items,
});

/** sessionsOfQuery and tokensOfQuery are another user's, for admins; nobody's name: one's own. */
export const sessionsOfQuery = (user: string | undefined) =>
  user === undefined
    ? sessionsQuery
    : queryOptions({
        queryKey: [...sessionsQuery.queryKey, user],
        queryFn: async ({ signal }) => (await answer(api.GET("/users/{user}/sessions", { params: { path: { user } }, signal }))).items,
      });

export const tokensOfQuery = (user: string | undefined) =>
  user === undefined
    ? tokensQuery
    : queryOptions({
        queryKey: [...tokensQuery.queryKey, user],
        queryFn: ({ signal }) =>
          pages((cursor) => answer(api.GET("/users/{user}/tokens", { params: { path: { user }, query: { cursor, limit } }, signal }))),
      });

export const tokensQuery = queryOptions({
  queryKey: ["tokens"],
  queryFn: ({ signal }) => pages((cursor) => answer(api.GET("/tokens", { params: { query: { cursor, limit } }, signal }))),
});

export function setUp(name: string, password: string) {
  return answer(api.POST("/setup", { body: { name, password } }));
}

export function changePassword(current: string, next: string) {
  return answer(api.PUT("/session/password", { body: { current, new: next } }));
}

export function endSession(session: string, user?: string) {
  if (user !== undefined) return answer(api.DELETE("/users/{user}/sessions/{session}", { params: { path: { user, session } } }));
  return answer(api.DELETE("/sessions/{session}", { params: { path: { session } } }));
}

export interface NewToken {
  name: string;
  role?: Schemas["CreateTokenBody"]["role"];
  project?: string;
  expires_at: string;
}

export function createToken(body: NewToken) {
  return answer(api.POST("/tokens", { body }));
}

export function revokeToken(token: string, user?: string) {
  if (user !== undefined) return answer(api.DELETE("/users/{user}/tokens/{token}", { params: { path: { user, token } } }));
  return answer(api.DELETE("/tokens/{token}", { params: { path: { token } } }));
}

/** createProject makes one and changes none: a name that is taken is refused. */
export function createProject(project: string, description: string) {
  return answer(api.PUT("/projects/{project}", { params: { path: { project }, header: { "If-None-Match": "*" } }, body: { description } }));
}

export function describeProject(project: string, description: string) {
  return answer(api.PUT("/projects/{project}", { params: { path: { project } }, body: { description } }));
}

export function deleteProject(project: string) {
  return answer(api.DELETE("/projects/{project}", { params: { path: { project } } }));
}

export function putMember(project: string, user: string, role: Member["role"]) {
  return answer(api.PUT("/projects/{project}/members/{user}", { params: { path: { project, user } }, body: { role } }));
}

export function deleteMember(project: string, user: string) {
  return answer(api.DELETE("/projects/{project}/members/{user}", { params: { path: { project, user } } }));
}

export function deleteWorkflow(project: string, workflow: string) {
  return answer(api.DELETE("/projects/{project}/workflows/{workflow}", { params: { path: { project, workflow } } }));
}
