import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

// What the pages of backfills read and write.

type Schemas = components["schemas"];
export type Backfill = Schemas["Backfill"];
export type BackfillOptions = Schemas["BackfillOptions"];
export type BackfillPlan = Schemas["BackfillCreated"];
export type BackfillDate = Schemas["BackfillDate"];
export type DateState = BackfillDate["state"];

/** OfWorkflow names the workflow whose backfills they are. */
export interface OfWorkflow {
  project: string;
  workflow: string;
}

// What goes on is watched; nothing of it comes by the stream.
const watched = 2000;
const calm = 15_000;

export const backfillsQuery = (of: OfWorkflow) =>
  infiniteQueryOptions({
    queryKey: ["backfills", of, "list"],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/backfills", {
          params: { path: { ...of }, query: { cursor: pageParam || undefined, limit: 50 } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    refetchInterval: (q) => (q.state.data?.pages.some((p) => p.items.some((b) => b.active)) ? watched : calm),
  });

/** projectBackfillsQuery lists those of all workflows of a project, the newest first. */
export const projectBackfillsQuery = (project: string) =>
  infiniteQueryOptions({
    queryKey: ["backfills", { project }, "list"],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/projects/{project}/backfills", {
          params: { path: { project }, query: { cursor: pageParam || undefined, limit: 50 } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    refetchInterval: (q) => (q.state.data?.pages.some((p) => p.items.some((b) => b.active)) ? watched : calm),
  });

export const backfillQuery = (of: OfWorkflow, backfill: string) =>
  queryOptions({
    queryKey: ["backfills", of, "one", backfill],
    queryFn: ({ signal }) =>
      answer(api.GET("/projects/{project}/workflows/{workflow}/backfills/{backfill}", { params: { path: { ...of, backfill } }, signal })),
    refetchInterval: (q) => (q.state.data?.active === false ? calm : watched),
  });

export const backfillDatesQuery = (of: OfWorkflow, backfill: string, state: DateState | undefined, active: boolean) =>
  infiniteQueryOptions({
    queryKey: ["backfills", of, "dates", backfill, state ?? ""],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/backfills/{backfill}/dates", {
          params: { path: { ...of, backfill }, query: { cursor: pageParam || undefined, limit: 100, state } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    refetchInterval: active ? watched : calm,
  });

/** readFailedDates returns all dates that failed; of those only that have an instance there is something to recover. */
export async function readFailedDates(of: OfWorkflow, backfill: string): Promise<BackfillDate[]> {
  const all: BackfillDate[] = [];
  for (let cursor: string | undefined; ; ) {
    const page: Schemas["ListBackfillDate"] = await answer(
      api.GET("/projects/{project}/workflows/{workflow}/backfills/{backfill}/dates", {
        params: { path: { ...of, backfill }, query: { cursor, limit: 200, state: "failed" } },
      }),
    );
    all.push(...page.items);
    cursor = page.next_cursor;
    if (!cursor) return all;
  }
}

/** previewBackfill works out what would run, and starts nothing. */
export function previewBackfill(of: OfWorkflow, body: BackfillOptions) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/backfills", { params: { path: { ...of }, query: { preview: true } }, body }),
  );
}

/** startBackfill starts what a preview has shown; it is refused (409) where that would be something else by now. */
export function startBackfill(of: OfWorkflow, body: BackfillOptions, token: string) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/backfills", { params: { path: { ...of } }, body: { ...body, preview: token } }),
  );
}

export function pauseBackfill(of: OfWorkflow, backfill: string) {
  return answer(api.POST("/projects/{project}/workflows/{workflow}/backfills/{backfill}/pause", { params: { path: { ...of, backfill } } }));
}

export function resumeBackfill(of: OfWorkflow, backfill: string) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/backfills/{backfill}/resume", { params: { path: { ...of, backfill } } }),
  );
}

export function cancelBackfill(of: OfWorkflow, backfill: string, running: "leave" | "stop") {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/backfills/{backfill}/cancel", {
      params: { path: { ...of, backfill } },
      body: { running },
    }),
  );
}

export function widenBackfill(of: OfWorkflow, backfill: string, parallel: number) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/backfills/{backfill}/parallel", {
      params: { path: { ...of, backfill } },
      body: { parallel },
    }),
  );
}
