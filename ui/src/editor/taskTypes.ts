// The task types that an editor offers: the server's list, and until it has come, those that every server knows.

import { useQuery } from "@tanstack/react-query";
import { taskTypesQuery } from "../api/queries";

/** TaskTypeEntry is a task type as the palette and the pickers show it. */
export interface TaskTypeEntry {
  readonly type: string;
  /** run does the work, on a worker; flow gives the graph its shape or its pace. */
  readonly category: "run" | "flow";
  readonly description: string;
}

const basic: readonly TaskTypeEntry[] = [
  { type: "shell", category: "run", description: "" },
  { type: "python", category: "run", description: "" },
  { type: "http", category: "run", description: "" },
  { type: "noop", category: "flow", description: "" },
  { type: "sub_workflow", category: "flow", description: "" },
  { type: "dynamic", category: "flow", description: "" },
];

/** useTaskTypes gives the types in the order in which people see them. */
export function useTaskTypes(): readonly TaskTypeEntry[] {
  const { data } = useQuery(taskTypesQuery);
  return data?.items ?? basic;
}
