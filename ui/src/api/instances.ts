import { queryOptions } from "@tanstack/react-query";
import { answer, api, type Instance } from "./client";
import type { InstanceFilter } from "./queries";
import type { components } from "./schema";

// Reads of the lists of instances, and of what is around one.

export type Histogram = components["schemas"]["InstanceHistogram"];
export type Neighbours = components["schemas"]["Neighbours"];
export type Value = components["schemas"]["Value"];
export type BulkResult = components["schemas"]["BulkResult"];

export type Scope = Pick<InstanceFilter, "project" | "workflow" | "from" | "to">;

export const histogramQuery = (filter: Scope & { state?: string }) =>
  queryOptions({
    queryKey: ["instances", "histogram", filter],
    queryFn: ({ signal }) => answer(api.GET("/instances/histogram", { params: { query: filter }, signal })),
    placeholderData: (before) => before,
  });

/** readInstances reads one page of a list; a page may be short and still have a next one. */
export function readInstances(filter: InstanceFilter, cursor: string | undefined, limit: number, signal?: AbortSignal) {
  return answer(api.GET("/instances", { params: { query: { ...filter, cursor, limit } }, signal }));
}

/** namedQuery reads instances anew by their ids, whatever state they are in. */
export const namedQuery = (ids: string[]) =>
  queryOptions({
    queryKey: ["instances", "named", ids],
    queryFn: async ({ signal }): Promise<Instance[]> =>
      ids.length === 0
        ? []
        : (await answer(api.GET("/instances", { params: { query: { ids: ids.join(","), outline: true } }, signal }))).items,
    placeholderData: (before) => before,
  });

export const neighboursQuery = (id: string) =>
  queryOptions({
    queryKey: ["neighbours", id],
    queryFn: ({ signal }) => answer(api.GET("/instances/{id}/neighbours", { params: { path: { id } }, signal })),
    staleTime: 30_000,
  });

export const valuesQuery = (id: string, task?: string) =>
  queryOptions({
    queryKey: ["instance", id, "values", task ?? ""],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/instances/{id}/values", { params: { path: { id }, query: { task } }, signal }))).items,
  });

/** evaluate works out an expression with what is known of an instance, or as the conditions of one of its tasks read it. */
export async function evaluate(id: string, expression: string, task?: string): Promise<string> {
  return (await answer(api.GET("/instances/{id}/evaluate", { params: { path: { id }, query: { expression, task } } }))).value;
}
