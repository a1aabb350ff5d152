import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../api/client";
import { begun, type Origin } from "./origin";

/** originQuery reads a workflow, its draft where it has one, and its canvas. One that is not there yet is begun. */
export const originQuery = (project: string, workflow: string, fresh: boolean) =>
  queryOptions({
    queryKey: ["editor", project, workflow],
    queryFn: ({ signal }) => load(project, workflow, fresh, signal),
  });

async function load(project: string, workflow: string, fresh: boolean, signal: AbortSignal): Promise<Origin> {
  const of = { project, workflow };
  const params = { path: of };
  // The address says that it is new until it is first saved. One that another has made meanwhile is found by that save.
  if (fresh) return begun(of);
  const saved = await answer(api.GET("/projects/{project}/workflows/{workflow}", { params, signal }));
  const [draft, layout] = await Promise.all([
    saved.draft_revision > 0 ? answer(api.GET("/projects/{project}/workflows/{workflow}/draft", { params, signal })) : undefined,
    answer(api.GET("/projects/{project}/workflows/{workflow}/layout", { params, signal })),
  ]);
  const version = draft?.base_version ?? saved.latest;
  const base = version === saved.latest ? saved.text : version === 0 ? "" : await textOf(of, version, signal);
  return begun(of, { ...saved, version, base }, draft, layout.tasks);
}

async function textOf(of: { project: string; workflow: string }, version: number, signal: AbortSignal): Promise<string> {
  const path = { ...of, version: String(version) };
  const one = await answer(api.GET("/projects/{project}/workflows/{workflow}/versions/{version}", { params: { path }, signal }));
  return one.text;
}
