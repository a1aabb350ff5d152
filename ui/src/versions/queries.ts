import { queryOptions } from "@tanstack/react-query";
import { answer, api } from "../api/client";

/** diffQuery compares two versions; "draft" is the draft. A pair of versions never changes, a draft does. */
export const diffQuery = (project: string, workflow: string, from: string, to: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow, "diff", from, to],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/versions/{version}/diff/{other}", {
          params: { path: { project, workflow, version: from, other: to } },
          signal,
        }),
      ),
  });

/** textQuery reads the text of a version, or of the draft. */
export const textQuery = (project: string, workflow: string, version: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow, "text", version],
    queryFn: async ({ signal }) => {
      const path = { project, workflow };
      if (version === "draft")
        return (await answer(api.GET("/projects/{project}/workflows/{workflow}/draft", { params: { path }, signal }))).text;
      const params = { path: { ...path, version } };
      return (await answer(api.GET("/projects/{project}/workflows/{workflow}/versions/{version}", { params, signal }))).text;
    },
  });

/** shapeQuery reads the tasks of a version as a graph. A draft has none: its text may be broken. */
export const shapeQuery = (project: string, workflow: string, version: string) =>
  queryOptions({
    queryKey: ["workflow", project, workflow, "shape", version],
    queryFn: ({ signal }) =>
      answer(
        api.GET("/projects/{project}/workflows/{workflow}/versions/{version}/graph", {
          params: { path: { project, workflow, version } },
          signal,
        }),
      ),
  });
