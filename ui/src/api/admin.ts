import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

// What admins read and write.

type Schemas = components["schemas"];
export type User = Schemas["User"];
export type AuditEntry = Schemas["AuditEntry"];

export interface AuditFilter {
  actor?: string;
  action?: string;
  object?: string;
  outcome?: AuditEntry["outcome"];
}

export const auditQuery = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ["audit", filter],
    queryFn: ({ pageParam, signal }) =>
      answer(api.GET("/audit", { params: { query: { ...filter, cursor: pageParam || undefined, limit: 100 } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

export const aboutQuery = queryOptions({
  queryKey: ["about"],
  queryFn: ({ signal }) => answer(api.GET("/about", { signal })),
});

export function createUser(name: string, password: string, admin: boolean) {
  return answer(api.POST("/users", { body: { name, password, admin } }));
}

export function changeUser(user: string, body: { admin?: boolean; disabled?: boolean; password?: string }) {
  return answer(api.PUT("/users/{user}", { params: { path: { user } }, body }));
}

export function deleteUser(user: string) {
  return answer(api.DELETE("/users/{user}", { params: { path: { user } } }));
}
