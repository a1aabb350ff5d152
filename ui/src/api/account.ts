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

export function endSession(session: string) {
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

export function revokeToken(token: string) {
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
