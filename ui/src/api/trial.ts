import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "./client";
import type { components } from "./schema";

export type Trial = components["schemas"]["Trial"];
export type TriedCase = components["schemas"]["TriedCase"];

export type Cases = components["schemas"]["Cases"];

/** casesQuery reads the test cases that are kept beside a workflow's draft. */
export const casesQuery = (project: string, workflow: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow, "cases"],
    queryFn: ({ signal }) =>
      answer(api.GET("/projects/{project}/workflows/{workflow}/cases", { params: { path: { project, workflow } }, signal })),
  });

/** saveCases keeps test cases over those of a revision, or with -1 over whatever there is. */
export function saveCases(of: { project: string; workflow: string }, text: string, revision: number): Promise<Cases> {
  return answer(api.PUT("/projects/{project}/workflows/{workflow}/cases", { params: { path: of }, body: { text, revision } }));
}

export interface TrialWish {
  project: string;
  text: string;
  cases: string;
}

/** tryOut runs cases of a workflow by the server's own rules; nothing is started or kept. */
export function tryOut({ project, text, cases }: TrialWish): Promise<Trial> {
  const format = (of: string) => (/^\s*\{/.test(of) ? ("json" as const) : ("yaml" as const));
  return answer(
    api.POST("/projects/{project}/trial", {
      params: { path: { project } },
      body: { text, format: format(text), cases, cases_format: format(cases) },
    }),
  );
}
