import { answer, api } from "./client";
import type { components } from "./schema";

// What the import of workflows asks for.

type Schemas = components["schemas"];
export type Findings = Schemas["Findings"];
export type Imported = Schemas["Imported"];
export type NamedSchedule = Schemas["NamedSchedule"];

/** checkText says what is wrong with a definition for a project; nothing is saved. */
export function checkText(project: string, text: string, format: "yaml" | "json"): Promise<Findings> {
  return answer(
    api.POST("/validate", {
      params: { query: { project } },
      body: text,
      bodySerializer: (body) => body,
      headers: { "Content-Type": format === "json" ? "application/json" : "application/yaml" },
    }),
  );
}

/** readImport says what an export of DolphinScheduler becomes; nothing is saved. */
export function readImport(project: string, text: string, names: Record<string, string>): Promise<Imported> {
  return answer(api.POST("/projects/{project}/import/dolphinscheduler", { params: { path: { project } }, body: { text, names } }));
}

/** saveSchedules makes or changes schedules, all or none. */
export function saveSchedules(project: string, schedules: NamedSchedule[]) {
  return answer(api.PUT("/projects/{project}/schedules", { params: { path: { project } }, body: { schedules, together: true } }));
}
