import { infiniteQueryOptions, keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import { ApiError, answer, api, apiBase, errorOf } from "./client";
import type { components } from "./schema";

// What the cluster page reads and asks for.

type Schemas = components["schemas"];
export type Pulse = Schemas["Pulse"];
export type PulseMaster = Schemas["PulseMaster"];
export type PulseWorker = Schemas["PulseWorker"];
export type Queue = Schemas["Queue"];
export type Failover = Schemas["Failover"];
export type Recovery = Schemas["Recovery"];
export type RunningTask = Schemas["RunningTask"];
export type BusyTaskGroup = Schemas["BusyTaskGroup"];
export type RebalanceStep = Schemas["RebalanceStep"];

/** pulseQuery is the cluster as it is now; the stream renews it. */
export const pulseQuery = queryOptions({
  queryKey: ["cluster", "pulse"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/pulse", { signal })),
});

/** heardPulse takes a pulse from the stream, and has read again what it says is another. */
export function heardPulse(client: QueryClient, pulse: Pulse): void {
  const before = client.getQueryData(pulseQuery.queryKey);
  client.setQueryData(pulseQuery.queryKey, pulse);
  const again = (part: string) => void client.invalidateQueries({ queryKey: ["cluster", part] });
  if (before?.tasks !== pulse.tasks) again("tasks");
  if (before?.tasks !== pulse.tasks || before?.queues[0]?.waiting !== pulse.queues[0]?.waiting) again("slot");
  if (before?.tasks !== pulse.tasks) again("task-groups");
  if (JSON.stringify(before?.failovers) !== JSON.stringify(pulse.failovers)) again("failovers");
  if (JSON.stringify(before?.stuck) !== JSON.stringify(pulse.stuck)) again("recoveries");
}

export const runningTasksQuery = queryOptions({
  queryKey: ["cluster", "tasks"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/tasks", { signal })),
  placeholderData: keepPreviousData,
});

export const slotWorkQuery = (slot: number) =>
  queryOptions({
    queryKey: ["cluster", "slot", slot],
    queryFn: ({ signal }) => answer(api.GET("/cluster/slots/{slot}", { params: { path: { slot } }, signal })),
  });

export const busyTaskGroupsQuery = queryOptions({
  queryKey: ["cluster", "task-groups"],
  queryFn: async ({ signal }) => (await answer(api.GET("/cluster/task-groups", { signal }))).items,
});

export const groupTasksQuery = (project: string, group: string) =>
  queryOptions({
    queryKey: ["cluster", "task-groups", project, group],
    queryFn: ({ signal }) => answer(api.GET("/projects/{project}/task-groups/{group}", { params: { path: { project, group } }, signal })),
  });

export const failoversQuery = (kind: "master" | "worker" | undefined) =>
  infiniteQueryOptions({
    queryKey: ["cluster", "failovers", kind ?? ""],
    queryFn: ({ pageParam, signal }) =>
      answer(api.GET("/cluster/failovers", { params: { query: { kind, cursor: pageParam || undefined, limit: 50 } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

/** failoverInstancesQuery lists the instances that a master took over. */
export const failoverInstancesQuery = (failover: string) =>
  queryOptions({
    queryKey: ["cluster", "failover", failover],
    queryFn: ({ signal }) => answer(api.GET("/cluster/failovers/{failover}/instances", { params: { path: { failover } }, signal })),
  });

export const recoveriesQuery = (state: Recovery["state"] | undefined) =>
  infiniteQueryOptions({
    queryKey: ["cluster", "recoveries", state ?? ""],
    queryFn: ({ pageParam, signal }) =>
      answer(api.GET("/cluster/recoveries", { params: { query: { state, cursor: pageParam || undefined, limit: 50 } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

/** supervisorQuery says when somebody looked last: its age is the point, so it is read while it is looked at. */
export const supervisorQuery = queryOptions({
  queryKey: ["cluster", "supervisor"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/supervisor", { signal })),
  refetchInterval: 5000,
});

/** timerSlicesQuery counts rows, so it is read every five seconds and no oftener. */
export const timerSlicesQuery = queryOptions({
  queryKey: ["cluster", "timers"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/timers", { signal })),
  refetchInterval: 5000,
});

export const settingsQuery = queryOptions({
  queryKey: ["cluster", "settings"],
  queryFn: ({ signal }) => answer(api.GET("/cluster/settings", { signal })),
});

export function drainWorker(worker: string, reason: string, giveBack: number | undefined) {
  const body = { reason: reason || undefined, give_back_after_seconds: giveBack };
  return answer(api.POST("/cluster/workers/{worker}/drain", { params: { path: { worker } }, body }));
}

export function resumeWorker(worker: string) {
  return answer(api.POST("/cluster/workers/{worker}/resume", { params: { path: { worker } } }));
}

/** askRebalance is about the layout of an epoch: of another one nothing is asked. */
export function askRebalance(epoch: number) {
  return answer(api.POST("/cluster/rebalance", { body: { epoch } }));
}

/** holdCluster lets nothing be claimed, dispatched or timed out until it is released; what runs goes on. */
export function holdCluster(reason: string) {
  return answer(api.POST("/cluster/hold", { body: { reason } }));
}

/** releaseCluster ends the hold, and says what it has moved. */
export function releaseCluster() {
  return answer(api.POST("/cluster/release"));
}

/** killNode ends a process of a demo. Its route is in no document: it is there in a demo alone. */
export async function killNode(node: string): Promise<void> {
  let response: Response;
  try {
    response = await fetch(`${apiBase}/cluster/demo/kill`, {
      method: "POST",
      credentials: "same-origin",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ node }),
    });
  } catch (cause) {
    throw new ApiError(0, cause instanceof Error ? cause.message : String(cause));
  }
  if (!response.ok) throw errorOf(response, await response.json().catch(() => undefined));
}
