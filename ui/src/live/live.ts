import type { QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { apiBase, type Task } from "../api/client";
import { viewQuery } from "../api/queries";
import { locksOf, PlacedSource } from "./place";
import { type LiveStatus, LiveStream, type Message } from "./stream";

const places = locksOf(navigator);

// The page's stream, and what its messages do to the cache.

export const live = new LiveStream(apiBase, {
  open: (url) => new PlacedSource(url, places),
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  hidden: () => document.hidden,
});

/** beginLive starts the stream's clock, once per page. */
export function beginLive(): void {
  setInterval(() => live.tick(), 1000);
  document.addEventListener("visibilitychange", () => live.visibilityChanged());
  window.addEventListener("pagehide", () => live.close());
}

export function useLiveStatus(): LiveStatus {
  return useSyncExternalStore(live.watch, live.getStatus);
}

/** pollWhenStale is every query's refetch interval: the stream is quiet, so ask. */
export function pollWhenStale(): number | false {
  return live.getStatus() === "stale" || places.crowded() ? 5000 : false;
}

/** gather is how long it must be quiet before all is read anew. */
const gather = 250;
/**
 * longest is how old a picture may grow while the messages do not end: what a person watches is painted from
 * the messages themselves, and to read 2,000 tasks four times a second would only make that late.
 */
const longest = 2000;

function soon(client: QueryClient, keys: unknown[][]): { poke: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let since = 0;
  return {
    poke: () => {
      const now = Date.now();
      if (timer === undefined) since = now;
      else clearTimeout(timer);
      timer = setTimeout(
        () => {
          timer = undefined;
          for (const queryKey of keys) void client.invalidateQueries({ queryKey });
        },
        Math.max(0, Math.min(gather, since + longest - now)),
      );
    },
    stop: () => clearTimeout(timer),
  };
}

/** useLiveInstances keeps every list of instances as new as the server says. */
export function useLiveInstances(enabled: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    const lists = soon(client, [["instances"]]);
    const leave = live.subscribe("instances", lists.poke);
    return () => {
      leave();
      lists.stop();
    };
  }, [client, enabled]);
}

/** useLiveItems reads an instance anew while the items of its dynamic tasks come and go: their ends are no events of its own. */
export function useLiveItems(id: string, enabled: boolean): void {
  const client = useQueryClient();
  useEffect(() => {
    if (!enabled) return;
    const view = soon(client, [viewQuery(id).queryKey.slice()]);
    const leave = live.subscribe("instances", view.poke);
    return () => {
      leave();
      view.stop();
    };
  }, [client, id, enabled]);
}

interface TaskEvent {
  code: string;
  task: string;
  state: string;
  attempt?: number;
}

function taskEvent(data: unknown): TaskEvent | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const e = data as Partial<Record<keyof TaskEvent, unknown>>; // each field is checked below
  if (e.code !== "task" || typeof e.task !== "string" || typeof e.state !== "string") return undefined;
  return { code: e.code, task: e.task, state: e.state, attempt: typeof e.attempt === "number" ? e.attempt : undefined };
}

/**
 * useLiveInstance paints the new states of tasks in the next frame, all that came since the last one at
 * once, and reads the rest a moment later.
 */
export function useLiveInstance(id: string): void {
  const client = useQueryClient();
  useEffect(() => {
    const all = soon(client, [["instance", id]]);
    const events = new Map<string, TaskEvent>();
    let frame = 0;
    const paint = () => {
      frame = 0;
      client.setQueryData(
        viewQuery(id).queryKey,
        (view) => view && { ...view, tasks: view.tasks.map((t) => moved(t, events.get(t.name))) },
      );
      events.clear();
    };
    const leave = live.subscribe(`instance:${id}`, (message: Message) => {
      const event = message.kind === "event" ? taskEvent(message.data) : undefined;
      if (event) {
        events.set(event.task, event);
        frame ||= requestAnimationFrame(paint);
      }
      if (message.kind !== "snapshot") all.poke();
      else behind(message.data);
    });
    // What happens between the page's first reading and the stream's beginning comes with neither:
    // the stream begins with how far the instance is, and a page that is behind reads again.
    let check: ReturnType<typeof setTimeout> | undefined;
    const behind = (data: unknown) => {
      clearTimeout(check);
      check = setTimeout(() => {
        const view = client.getQueryState(viewQuery(id).queryKey);
        const seq = view?.data?.instance.seq;
        if (seq === undefined && view?.status === "pending") behind(data);
        else if (seq !== undefined && seqOf(data) > seq) all.poke();
      }, gather);
    };
    return () => {
      leave();
      clearTimeout(check);
      all.stop();
      cancelAnimationFrame(frame);
    };
  }, [client, id]);
}

function seqOf(data: unknown): number {
  return typeof data === "object" && data !== null && "seq" in data && typeof data.seq === "number" ? data.seq : 0;
}

function moved(task: Task, event: TaskEvent | undefined): Task {
  if (!event) return task;
  // The server's words for states are open here: an unknown one is drawn grey.
  return { ...task, state: event.state as Task["state"], attempts: event.attempt ?? task.attempts };
}
