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

/** schedulesQuery reads the schedules of a project, or of one of its workflows; without a project, all that one may see. */
export const schedulesQuery = (project?: string, workflow?: string) =>
  queryOptions({
    queryKey: ["schedules", project ?? "", workflow ?? ""],
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

/** explainScheduleQuery says why one fires or does not. */
export const explainScheduleQuery = (path: ScheduleAt) =>
  queryOptions({
    queryKey: ["schedule", path, "explain"],
    queryFn: ({ signal }) =>
      answer(api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}/explain", { params: { path: { ...path } }, signal })),
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

/** spanQuery counts them for a year or a month of the schedule's own clock, so that it can be asked before that is known. */
export const spanQuery = (path: ScheduleAt, span: string) =>
  queryOptions({
    queryKey: ["schedule", path, "days", span],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}/fires/days", {
          params: { path: { ...path }, query: { span } },
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

/** HeatOf says of which schedules a heat is, by whose clock, and from which day on. */
export interface HeatOf {
  project?: string;
  timezone: string;
}

/** heatQuery counts what schedules plan, by the hours of a week. */
export const heatQuery = (of: HeatOf, from: string) =>
  queryOptions({
    queryKey: ["schedules", "heat", of, from],
    queryFn: ({ signal }) => answer(api.GET("/schedules/heat", { params: { query: { ...of, from } }, signal })),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

/** hourQuery lists the schedules that fire within an hour of a day. */
export const hourQuery = (of: HeatOf, day: string, hour: number) =>
  infiniteQueryOptions({
    queryKey: ["schedules", "hour", of, day, hour],
    queryFn: ({ pageParam, signal }) =>
      answer(api.GET("/schedules/hour", { params: { query: { ...of, day, hour, cursor: pageParam || undefined, limit: 100 } }, signal })),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

/** maxRun is how many fires the server runs at once. */
export const maxRun = 100;

/** leftOutQuery finds the fires of a stretch that were missed, or with skipped those too, and that nobody has run: the oldest, up to one more than are run at once. */
export const leftOutQuery = (path: ScheduleAt, from: string, to: string, skipped: boolean) =>
  queryOptions({
    queryKey: ["schedule", path, "left out", from, to, skipped],
    queryFn: async ({ signal }) => {
      const of = async (state: "missed" | "skipped") => {
        const found: Fire[] = [];
        for (let cursor: string | undefined, more = true; more && found.length <= maxRun; ) {
          const query = { from, to, state, cursor, limit };
          const page = await answer(
            api.GET("/projects/{project}/workflows/{workflow}/schedules/{schedule}/fires", {
              params: { path: { ...path }, query },
              signal,
            }),
          );
          found.push(...page.items.filter((f) => !f.instance_id));
          cursor = page.next_cursor || undefined;
          more = cursor !== undefined;
        }
        return found;
      };
      const both = [...(await of("missed")), ...(skipped ? await of("skipped") : [])];
      return both.sort((a, b) => Date.parse(a.at) - Date.parse(b.at)).slice(0, maxRun + 1);
    },
    gcTime: 0,
  });

/** runFires starts the instances of fires that were missed or skipped; what has one keeps it. */
export function runFires(path: ScheduleAt, at: string[]) {
  const body = { at };
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/schedules/{schedule}/fires/run", { params: { path: { ...path } }, body }),
  );
}

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
