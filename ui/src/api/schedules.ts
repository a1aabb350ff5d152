import { infiniteQueryOptions, keepPreviousData, queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import { pages } from "./queries";
import type { components } from "./schema";

// What the pages of schedules read and write.

type Schemas = components["schemas"];
export type Schedule = Schemas["Schedule"];
export type ScheduleDetail = Schemas["ScheduleDetail"];
export type Fire = Schemas["Fire"];
export type PlannedFire = Schemas["PlannedFire"];
export type ScheduleProof = Schemas["ScheduleProof"];
/** ScheduleBody is a schedule's document as it is saved. */
export type ScheduleBody = Schemas["PutScheduleBody"];

/** ScheduleAt names a schedule. */
export interface ScheduleAt {
  project: string;
  workflow: string;
  schedule: string;
}

const limit = 200;

/** schedulesQuery reads the schedules of a project, or of one of its workflows. */
export const schedulesQuery = (project: string, workflow?: string) =>
  queryOptions({
    queryKey: ["schedules", project, workflow ?? ""],
    queryFn: ({ signal }) =>
      pages((cursor) => answer(api.GET("/schedules", { params: { query: { project, workflow, cursor, limit } }, signal }))),
    // No news of fires comes by the stream.
    refetchInterval: 15_000,
  });

/** askedNext is how many of its next fires come with a schedule: the most that the server gives. */
export const askedNext = 100;

/** scheduleQuery reads one with its next fires. */
export const scheduleQuery = (path: ScheduleAt) =>
  queryOptions({
    queryKey: ["schedule", path],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}", {
          params: { path: { ...path }, query: { n: askedNext } },
          signal,
        }),
      ),
    refetchInterval: 15_000,
  });

/** fireDaysQuery counts what became of the fires of a stretch, day by day. */
export const fireDaysQuery = (path: ScheduleAt, from: string, to: string) =>
  queryOptions({
    queryKey: ["schedule", path, "days", from, to],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}/fires/days", {
          params: { path: { ...path }, query: { from, to } },
          signal,
        }),
      ),
    placeholderData: keepPreviousData,
    refetchInterval: 15_000,
  });

export const proofQuery = (path: ScheduleAt, from: string, to: string) =>
  queryOptions({
    queryKey: ["schedule", path, "proof", from, to],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}/proof", {
          params: { path: { ...path }, query: { from, to } },
          signal,
        }),
      ),
  });

/** firesQuery lists the fires of a stretch, the oldest first. */
export const firesQuery = (path: ScheduleAt, from: string, to: string) =>
  infiniteQueryOptions({
    queryKey: ["schedule", path, "fires", from, to],
    queryFn: ({ pageParam, signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}/fires", {
          params: { path: { ...path }, query: { from, to, cursor: pageParam || undefined, limit } },
          signal,
        }),
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

export const calendarsQuery = (project: string) =>
  queryOptions({
    queryKey: ["calendars", project],
    queryFn: async ({ signal }) =>
      (await answer(api.GET("/projects/{project}/calendars", { params: { path: { project } }, signal }))).items,
  });

/** nextFiresQuery says what a document means before it is saved; it is a POST only because the document goes with it. */
export const nextFiresQuery = (project: string, body: Schemas["PreviewScheduleBody"]) =>
  queryOptions({
    queryKey: ["schedule-preview", project, body],
    queryFn: ({ signal }) => answer(api.POST("/projects/{project}/schedules/preview", { params: { path: { project } }, body, signal })),
    placeholderData: keepPreviousData,
    refetchInterval: false,
    retry: false,
    gcTime: 0,
  });

/** saveSchedule makes one, or with the revision that was read changes it. */
export function saveSchedule(path: ScheduleAt, body: ScheduleBody, revision: number | undefined) {
  const header = revision === undefined ? {} : { "If-Match": `"${revision}"` };
  return answer(api.PUT("/projects/{project}/workflows/{workflow}/schedules/{schedule}", { params: { path: { ...path }, header }, body }));
}

export function deleteSchedule(path: ScheduleAt) {
  return answer(api.DELETE("/projects/{project}/workflows/{workflow}/schedules/{schedule}", { params: { path: { ...path } } }));
}

export function pauseSchedule(path: ScheduleAt, reason: string) {
  const body = { reason };
  return answer(api.POST("/projects/{project}/workflows/{workflow}/schedules/{schedule}/pause", { params: { path: { ...path } }, body }));
}

export function resumeSchedule(path: ScheduleAt) {
  return answer(api.POST("/projects/{project}/workflows/{workflow}/schedules/{schedule}/resume", { params: { path: { ...path } } }));
}

export function triggerSchedule(path: ScheduleAt) {
  return answer(api.POST("/projects/{project}/workflows/{workflow}/schedules/{schedule}/trigger", { params: { path: { ...path } } }));
}

export type Switch = "pause" | "resume";

/** switchSchedules pauses or resumes all that a filter wants; with preview it only counts them. */
export function switchSchedules(project: string, verb: Switch, body: Schemas["EnableSchedulesBody"]) {
  const of = { params: { path: { project } }, body };
  return answer(
    verb === "pause" ? api.POST("/projects/{project}/schedules/pause", of) : api.POST("/projects/{project}/schedules/resume", of),
  );
}
