import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

// Which workflows start or wait for which.

export type Lineage = components["schemas"]["Lineage"];
export type LineageEdge = components["schemas"]["LineageEdge"];

export const lineageQuery = (project: string | undefined) =>
  queryOptions({
    queryKey: ["lineage", project ?? ""],
    queryFn: ({ signal }) => answer(api.GET("/lineage", { params: { query: { project } }, signal })),
  });
