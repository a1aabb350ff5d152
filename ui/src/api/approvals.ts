import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { pages } from "./queries";
import type { components } from "./schema";

// What waits for people's word, and their word.

export type Approval = components["schemas"]["Approval"];
export type FormField = components["schemas"]["FormField"];

/** approvalsQuery lists the approvals on which the reader may decide and has not yet. */
export const approvalsQuery = queryOptions({
  queryKey: ["approvals"],
  queryFn: ({ signal }) => pages((cursor) => answer(api.GET("/approvals", { params: { query: { cursor, limit: 200 } }, signal }))),
});

export interface Decision {
  approval: Approval;
  approve: boolean;
  reason: string;
  values: Record<string, string>;
}

/** decide says yes or no to the very attempt that was looked at. */
export function decide({ approval, approve, reason, values }: Decision) {
  const { attempt, instance_id: id, task } = approval;
  const path = { params: { path: { id, task } } };
  const said = { attempt, ...(reason !== "" && { reason }) };
  return approve
    ? answer(api.POST("/instances/{id}/tasks/{task}/approve", { ...path, body: { ...said, values } }))
    : answer(api.POST("/instances/{id}/tasks/{task}/reject", { ...path, body: said }));
}
