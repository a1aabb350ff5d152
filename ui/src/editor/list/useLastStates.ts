import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { instancesQuery, tasksQuery } from "../../api/queries";

const empty: ReadonlyMap<string, string> = new Map();

/** useLastStates gives the states of the tasks in the workflow's last instance, by name; none where it has never run. */
export function useLastStates(project: string, workflow: string): ReadonlyMap<string, string> {
  const last = useInfiniteQuery(instancesQuery({ project, workflow }, 1)).data?.pages[0]?.items[0]?.id;
  const tasks = useQuery({ ...tasksQuery(last ?? ""), enabled: last !== undefined }).data;
  return useMemo(() => (tasks ? new Map(tasks.map((t) => [t.name, t.state])) : empty), [tasks]);
}
