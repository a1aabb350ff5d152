import type { QueryClient } from "@tanstack/react-query";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useSyncExternalStore } from "react";
import { apiBase, type Task } from "../api/client";
import { tasksQuery } from "../api/queries";
import { type LiveStatus, LiveStream, type Message } from "./stream";

// The page's stream, and what its messages do to the cache.

export const live = new LiveStream(apiBase, {
  open: (url) => new EventSource(url, { withCredentials: true }),
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
  return live.getStatus() === "stale" ? 5000 : false;
}

/** gather lets many messages within a moment refetch once. */
const gather = 250;

function soon(client: QueryClient, keys: unknown[][]): { poke: () => void; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    poke: () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        for (const queryKey of keys) void client.invalidateQueries({ queryKey });
      }, gather);
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

/** useLiveInstance paints a task's new state at once and reads the rest a moment later. */
export function useLiveInstance(id: string): void {
  const client = useQueryClient();
  useEffect(() => {
    const all = soon(client, [["instance", id]]);
    const leave = live.subscribe(`instance:${id}`, (message: Message) => {
      const event = message.kind === "event" ? taskEvent(message.data) : undefined;
      if (event)
        client.setQueryData<Task[]>(tasksQuery(id).queryKey, (tasks) => tasks?.map((t) => (t.name === event.task ? moved(t, event) : t)));
      if (message.kind !== "snapshot") all.poke();
    });
    return () => {
      leave();
      all.stop();
    };
  }, [client, id]);
}

function moved(task: Task, event: TaskEvent): Task {
  // The server's words for states are open here: an unknown one is drawn grey.
  return { ...task, state: event.state as Task["state"], attempts: event.attempt ?? task.attempts };
}
