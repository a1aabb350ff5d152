import { answer, api } from "../api/client";
import { saveAs } from "../parts/saveAs";

// A workflow's text, as a file and under another name.

interface Of {
  project: string;
  workflow: string;
}

/** Unreadable says that a text is no definition, so that nothing in it can be named anew. */
export class Unreadable extends Error {}

async function read({ project, workflow }: Of) {
  return answer(api.GET("/projects/{project}/workflows/{workflow}", { params: { path: { project, workflow } } }));
}

/** copyWorkflow saves the newest text of one workflow as the first version of another, and changes only the name in it. */
export async function copyWorkflow(from: Of, to: Of): Promise<Of> {
  const source = await read(from);
  // What reads YAML is loaded with the first copy only.
  const { renamed } = await import("./rename");
  const body = renamed(source.text, to.workflow);
  if (body === undefined) throw new Unreadable("the text is no definition");
  await answer(
    api.PUT("/projects/{project}/workflows/{workflow}", {
      // Without If-Match a workflow is created, and none is overwritten.
      params: {
        path: to,
        query: { publish: false },
        header: { "Content-Type": source.format === "json" ? "application/json" : "application/yaml" },
      },
      body,
      bodySerializer: (text) => text,
    }),
  );
  return to;
}

/** exportWorkflow hands the newest text to the browser as a file. */
export async function exportWorkflow(of: Of): Promise<void> {
  const { text, format } = await read(of);
  if (format === "json") saveAs(`${of.workflow}.json`, text, "application/json");
  else saveAs(`${of.workflow}.yaml`, text, "application/yaml");
}
