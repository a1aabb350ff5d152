import createClient from "openapi-fetch";
import { ApiError } from "./error";
import type { components, paths } from "./schema";

export { ApiError };

type Schemas = components["schemas"];
export type Instance = Schemas["Instance"];
export type Task = Schemas["Task"];
export type Attempt = Schemas["Attempt"];
export type InstanceEvent = Schemas["Event"];
export type Explanation = Schemas["Explanation"];
export type Graph = Schemas["Graph"];
export type Param = Schemas["Param"];
export type Project = Schemas["Project"];
export type Workflow = Schemas["Workflow"];
export type Preview = Schemas["Preview"];
export type Me = Schemas["Me"];
export type TaskType = Schemas["TaskType"];
export type TaskTypes = Schemas["TaskTypes"];
export type ParameterPreview = Schemas["ParameterPreview"];
export type PreviewOptions = Schemas["PreviewOptions"];
export type FieldError = Schemas["FieldError"];

/** apiBase is below the base path that the server wrote into the index. */
export const apiBase = new URL("api/v1", document.baseURI).href;

export const api = createClient<paths>({ baseUrl: apiBase, credentials: "same-origin" });

interface Problem {
  title?: string;
  detail?: string;
  request_id?: string;
  errors?: FieldError[] | null;
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null;
}

/** signedOut is the window's event for an answer by which the server no longer knows who asks, whatever was asked. */
export const signedOut = "porpoise:signed-out";

export function errorOf(response: Response, body: unknown): ApiError {
  if (response.status === 401 && typeof window !== "undefined") window.dispatchEvent(new Event(signedOut));
  const p = isProblem(body) ? body : {};
  const id = p.request_id ?? response.headers.get("X-Request-Id") ?? undefined;
  return new ApiError(response.status, p.detail || p.title || response.statusText || String(response.status), id, p.errors ?? []);
}

/** answer gives the body of a success and throws an ApiError for everything else. */
export async function answer<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  let got: { data?: T; error?: unknown; response: Response };
  try {
    got = await call;
  } catch (cause) {
    throw new ApiError(0, cause instanceof Error ? cause.message : String(cause));
  }
  if (!got.response.ok) throw errorOf(got.response, got.error);
  // A success always has the body that the document promises; 204 has none, and T is void there.
  return got.data as T;
}
