import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { ApiError, answer, api, errorOf } from "./client";
import type { components } from "./schema";

// Timers: their routes keep the form of the service that they stand in for, below another server than the API's.

type Schemas = components["schemas"];
/** Timer calls a URL at the moments of its cron. */
export type Timer = Schemas["Timer"];
/** TimerDef is what a timer is made of. */
export type TimerDef = Schemas["TimerDef"];
/** TimerRecord is one firing of a timer. */
export type TimerRecord = Schemas["TimerRecord"];
/** TimerStats is what became of a project's firings. */
export type TimerStats = Schemas["TimerStats"];

/** Send is a change: by which method, with what. */
interface Send {
  method: "POST" | "PUT" | "DELETE";
  body: object;
}

async function ask<T>(path: string, query: Record<string, string>, signal?: AbortSignal, send?: Send): Promise<T> {
  const url = new URL(`api/${path}`, document.baseURI);
  url.search = new URLSearchParams(query).toString();
  const json = { "Content-Type": "application/json" };
  let response: Response;
  try {
    response = await fetch(url, {
      signal,
      credentials: "same-origin",
      ...(send && { method: send.method, headers: json, body: JSON.stringify(send.body) }),
    });
  } catch (cause) {
    throw new ApiError(0, cause instanceof Error ? cause.message : String(cause));
  }
  const got: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(response, refusal(got));
  return got as T; // docs/timers.md says its form
}

/** refusal is a coded answer as a problem: its sentence stands in msg. */
function refusal(body: unknown): unknown {
  return typeof body === "object" && body !== null && "msg" in body ? { ...body, detail: body.msg } : body;
}

const size = 100;

/** timersQuery lists a project's timers by name. */
export const timersQuery = (app: string, name: string) =>
  infiniteQueryOptions({
    queryKey: ["timers", app, "list", name],
    queryFn: ({ pageParam, signal }) => {
      const page = { app, page: String(pageParam), pageSize: String(size) };
      const list = name === "" ? "defs" : "defsByName";
      return ask<{ data: Timer[]; more: boolean }>(`timer/v1/${list}`, name === "" ? page : { ...page, fuzzyName: name }, signal);
    },
    initialPageParam: 1,
    getNextPageParam: (last, _, at) => (last.more ? at + 1 : undefined),
    refetchInterval: 15_000,
  });

/** timerNamesQuery is the first of a project's timers, for who looks one up by its name. */
export const timerNamesQuery = (app: string) =>
  queryOptions({
    queryKey: ["timers", app, "names"],
    queryFn: async ({ signal }) => (await ask<{ data: Timer[] }>("timer/v1/defs", { app, page: "1", pageSize: String(size) }, signal)).data,
    staleTime: 60_000,
  });

export const timerQuery = (app: string, id: string) =>
  queryOptions({
    queryKey: ["timers", app, "one", id],
    queryFn: async ({ signal }) => (await ask<{ data: Timer }>("timer/v1/def", { app, id }, signal)).data,
    refetchInterval: 15_000,
  });

export const timerStatsQuery = (app: string, days: number) =>
  queryOptions({
    queryKey: ["timers", app, "stats", days],
    queryFn: async ({ signal }) => (await ask<{ data: TimerStats }>("timer/v1/stats", { app, days: String(days) }, signal)).data,
    refetchInterval: 15_000,
  });

/** timerRecordsQuery lists a timer's firings, the newest first. */
export const timerRecordsQuery = (app: string, id: string, state: string) =>
  infiniteQueryOptions({
    queryKey: ["timers", app, "records", id, state],
    queryFn: ({ pageParam, signal }) =>
      ask<{ data: TimerRecord[]; nextCursor?: string }>(
        "task/v1/records",
        { app, id, pageSize: String(size), ...(state !== "" && { state }), ...(pageParam !== "" && { cursor: pageParam }) },
        signal,
      ),
    initialPageParam: "",
    getNextPageParam: (last) => last.nextCursor || undefined,
    refetchInterval: 15_000,
  });

/** cronWordsQuery says a cron in words, with its next fires. */
export const cronWordsQuery = (t: Pick<Timer, "cron" | "dialect" | "timezone">) =>
  queryOptions({
    queryKey: ["cron", t.cron, t.dialect ?? "", t.timezone ?? ""],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/schedules/preview", { params: { query: { cron: t.cron, dialect: t.dialect, timezone: t.timezone, n: 5 } }, signal }),
      ),
    refetchInterval: 15_000,
  });

/** switchTimer enables a timer or disables it. */
export function switchTimer(t: Pick<Timer, "id" | "app">, enabled: boolean) {
  return ask<Schemas["Coded"]>(`timer/v1/${enabled ? "enable" : "unable"}`, {}, undefined, {
    method: "POST",
    body: { id: t.id, app: t.app },
  });
}

/** createTimer makes a timer, which is not enabled yet. */
export async function createTimer(def: TimerDef): Promise<number> {
  return (await ask<Schemas["TimerCreated"]>("timer/v1/def", {}, undefined, { method: "POST", body: def })).id;
}

/** replaceTimer puts another timer in the place of one, and gives its id. */
export async function replaceTimer(id: number, def: TimerDef): Promise<number> {
  return (await ask<Schemas["TimerCreated"]>("timer/v1/def", {}, undefined, { method: "PUT", body: { id, ...def } })).id;
}

/** deleteTimer deletes a timer; what became of its firings is swept with them. */
export function deleteTimer(t: Pick<Timer, "id" | "app">) {
  return ask<Schemas["Coded"]>("timer/v1/def", {}, undefined, { method: "DELETE", body: { id: t.id, app: t.app } });
}
