// The names that a task's script and texts can use, with what is known of their values.

import type { Task, Workflow } from "../../domain/document/read";
import { isFields } from "../../domain/document/read";
import type { Fields } from "../../domain/document/tree";
import { reachable } from "../../domain/graph/model";
import type { Say } from "../../i18n";
import type { KnownName } from "../code/CodeField";
import { listOf, shown } from "./values";

/** builtIn are the names that every task has; other texts than scripts may write them with dots. */
const builtIn = [
  "system_biz_date",
  "system_biz_curdate",
  "system_datetime",
  "system_workflow_instance_id",
  "system_workflow_name",
  "system_project_name",
  "system_task_name",
  "system_iteration",
  "system_workflow_definition_name",
  "system_workflow_definition_code",
  "system_project_code",
  "system_task_definition_name",
];

/** knownNames lists parameters of the task, outputs of all tasks above it, parameters of the workflow and what is built in, nearest first. */
export function knownNames(t: Say, workflow: Workflow, task: Task): KnownName[] {
  const out = new Map<string, KnownName>();
  const put = (name: string, origin: string, sample?: string) => {
    if (name !== "" && !out.has(name)) out.set(name, { name, origin, sample });
  };
  const params = (of: Fields, origin: string) => {
    for (const [name, value] of Object.entries(of)) put(name, origin, shown(isFields(value) ? value.default : value) || undefined);
  };
  params(isFields(task.fields.params) ? task.fields.params : {}, t("form.origin.task"));
  const above = reachable(workflow.tasks, task.name, "above");
  for (const other of workflow.tasks) {
    if (other.name === task.name || !above.has(other.name)) continue;
    for (const name of listOf(other.fields.outputs)) put(name, t("form.origin.output", { task: other.name }));
  }
  params(workflow.params, t("form.origin.workflow"));
  for (const name of builtIn) put(name, t("form.origin.builtin"));
  return [...out.values()];
}
