import { ApiError, answer, api, apiBase, errorOf } from "../api/client";
import type { components } from "../api/schema";

// What the panel asks the server for: windows of an attempt's output, and hits in it.

export type Found = components["schemas"]["LogFound"];
export type Hit = components["schemas"]["LogHit"];
export type Stream = "stdout" | "stderr";

/** Gap is what a worker has dropped of an output that is longer than it keeps. */
export interface Gap {
  from: number;
  to: number;
  lines_from: number;
  lines_to: number;
}

/** LogWindow is a part of an output; its route streams, so that the document has no schema of it. */
export interface LogWindow {
  offset: number;
  next_offset: number;
  size: number;
  eof: boolean;
  line: number; // where data begins, from 1; 0: not known
  newlines: number;
  left_out?: Gap;
  data: string;
}

/** Output names the output of one attempt. */
export interface Output {
  id: string;
  task: string;
  attempt: number;
  stream: Stream | undefined;
}

export interface Place {
  offset?: number;
  line?: number;
  limit?: number;
  lines?: number;
}

function base(o: Output): string {
  return `${apiBase}/instances/${o.id}/tasks/${encodeURIComponent(o.task)}`;
}

function query(o: Output, more: object): string {
  const all = Object.entries({ stream: o.stream, ...more }).filter(([, v]) => v !== undefined);
  return new URLSearchParams(all.map(([k, v]) => [k, String(v)])).toString();
}

/** rawURL shows an output as plain text, whole. */
export const rawURL = (o: Output): string => `${base(o)}/attempts/${o.attempt}/log?${query(o, { follow: true })}`;
/** downloadURL has an output byte for byte. */
export const downloadURL = (o: Output): string => `${base(o)}/attempts/${o.attempt}/log/download?${query(o, {})}`;
/** zipURL has the outputs of all attempts of a task. */
export const zipURL = (o: Output): string => `${base(o)}/logs.zip`;

export async function readWindow(o: Output, at: Place, signal?: AbortSignal): Promise<LogWindow> {
  let response: Response;
  try {
    response = await fetch(`${base(o)}/attempts/${o.attempt}/log?${query(o, at)}`, {
      headers: { Accept: "application/json" },
      credentials: "same-origin",
      signal: signal ?? null,
    });
  } catch (cause) {
    throw new ApiError(0, cause instanceof Error ? cause.message : String(cause));
  }
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) throw errorOf(response, body);
  return body as LogWindow; // the server's answer to Accept: application/json
}

export interface Search {
  q?: string;
  regex?: boolean;
  case?: boolean;
  errors?: boolean;
  line?: number;
  backward?: boolean;
  count?: boolean;
  limit?: number;
}

export function searchLog(o: Output, search: Search, signal?: AbortSignal): Promise<Found> {
  return answer(
    api.GET("/instances/{id}/tasks/{task}/attempts/{number}/log/search", {
      params: {
        path: { id: o.id, task: o.task, number: String(o.attempt) },
        query: { ...search, ...(o.stream ? { stream: o.stream } : {}) },
      },
      signal: signal ?? null,
    }),
  );
}
