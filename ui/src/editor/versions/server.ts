import { answer, api } from "../../api/client";
import { dropDraft, saveDraft, saveLayout, saveVersion } from "../../api/definitions";
import type { Server } from "./saving";

/** server is the real one. */
export const server: Server = {
  saveVersion,
  saveDraft,
  dropDraft,
  saveLayout,
  newest: async ({ project, workflow }, kind) => {
    const path = { project, workflow };
    const one = await answer(api.GET("/projects/{project}/workflows/{workflow}", { params: { path } }));
    if (kind === "draft") {
      const draft = await answer(api.GET("/projects/{project}/workflows/{workflow}/draft", { params: { path } }));
      return { kind, version: one.latest, text: draft.text, by: draft.updated_by, at: draft.updated_at, revision: draft.revision };
    }
    const version = { ...path, version: String(one.latest) };
    const newest = await answer(api.GET("/projects/{project}/workflows/{workflow}/versions/{version}", { params: { path: version } }));
    return { kind, version: one.latest, text: newest.text, by: newest.created_by, at: newest.created_at, revision: undefined };
  },
};
