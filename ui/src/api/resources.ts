import { queryOptions } from "@tanstack/react-query";
import type { ResourceKind } from "../searchPages";
import { answer, api } from "./client";
import type { components } from "./schema";

// What tasks share by name, in all projects, and who uses it.

export type Resource = components["schemas"]["Resource"];

/** Its key begins as that of settings: a change of one is read here, too. */
export const resourcesQuery = (kind: ResourceKind) =>
  queryOptions({
    queryKey: ["settings", "resources", kind],
    queryFn: ({ signal }) => answer(api.GET("/resources/{kind}", { params: { path: { kind } }, signal })),
  });
