import { answer, api } from "./client";

// Writes of a workflow's text. A text goes out as it is, in its own format.

export interface Of {
  project: string;
  workflow: string;
}

export type Format = "yaml" | "json";

// The typed client would put quotes around a text.
const asIs = { bodySerializer: (body: string) => body };

function typeOf(format: Format) {
  return { "Content-Type": format === "json" ? "application/json" : "application/yaml" };
}

export interface SaveWish extends Of {
  text: string;
  format: Format;
  /** match is the newest version that the author has seen; 0 creates the workflow. */
  match: number;
  publish: boolean;
  message: string;
  /** draft is the revision that this save makes needless. */
  draft?: number;
}

/** saveVersion saves the next version; the same text as the newest one makes none. */
export function saveVersion({ project, workflow, text, format, match, publish, message, draft }: SaveWish) {
  return answer(
    api.PUT("/projects/{project}/workflows/{workflow}", {
      params: {
        path: { project, workflow },
        query: { publish, ...(message && { message }), ...(draft && { draft }) },
        header: match > 0 ? { "If-Match": `"${match}"` } : {},
      },
      headers: typeOf(format),
      body: text,
      ...asIs,
    }),
  );
}

export interface DraftWish extends Of {
  text: string;
  format: Format;
  base: number;
  /** match is the revision that the author has seen; none is no draft. */
  match?: number;
}

/** saveDraft keeps a text, errors allowed. */
export function saveDraft({ project, workflow, text, format, base, match }: DraftWish) {
  return answer(
    api.PUT("/projects/{project}/workflows/{workflow}/draft", {
      params: { path: { project, workflow }, query: { base_version: base }, header: match ? { "If-Match": `"${match}"` } : {} },
      headers: typeOf(format),
      body: text,
      ...asIs,
    }),
  );
}

/** dropDraft throws away the draft of this revision. */
export function dropDraft({ project, workflow, match }: Of & { match: number }) {
  return answer(
    api.DELETE("/projects/{project}/workflows/{workflow}/draft", {
      params: { path: { project, workflow }, header: { "If-Match": `"${match}"` } },
    }),
  );
}

/** saveLayout keeps where the tasks stand. */
export function saveLayout({ project, workflow }: Of, tasks: Record<string, { x: number; y: number }>) {
  return answer(api.PUT("/projects/{project}/workflows/{workflow}/layout", { params: { path: { project, workflow } }, body: { tasks } }));
}
