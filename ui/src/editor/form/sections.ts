// Which part of a form has which field. What is not named here is the type's own and stands in the first part.

import type { Field } from "./schema";

/** taskTabs are the parts of a task's form, as the address names them. */
export const taskTabs = ["what", "params", "run", "retry", "preview"] as const;

/** workflowTabs are the parts of the workflow's own form. */
export const workflowTabs = ["what", "params", "preview"] as const;

export type Tab = (typeof taskTabs)[number];

const ofTask: Readonly<Record<string, Tab>> = {
  params: "params",
  outputs: "params",
  env: "params",
  artifacts: "params",
  uses: "params",
  raw: "params",
  join: "run",
  when: "run",
  finally: "run",
  worker_group: "run",
  worker_labels: "run",
  task_group: "run",
  environment: "run",
  priority: "run",
  working_dir: "run",
  cache: "run",
  retry: "retry",
  repeat_until: "retry",
  timeout: "retry",
  queue_timeout: "retry",
  delay: "retry",
  allow_failure: "retry",
  on_lost: "retry",
  disabled: "retry",
  compensate: "retry",
};

const ofWorkflow: Readonly<Record<string, Tab>> = { params: "params" };

/** tabOf tells in which part a key's field stands. */
export function tabOf(key: string, of: "task" | "workflow"): Tab {
  return (of === "task" ? ofTask : ofWorkflow)[key] ?? "what";
}

/** tabFrom reads the address; what it does not know is the first part. */
export function tabFrom(text: string | undefined, of: "task" | "workflow"): Tab {
  const tabs: readonly Tab[] = of === "task" ? taskTabs : workflowTabs;
  return tabs.find((t) => t === text) ?? "what";
}

/** ofTab gives the fields of one part. */
export function ofTab(fields: readonly Field[], tab: Tab, of: "task" | "workflow"): Field[] {
  return fields.filter((f) => tabOf(f.key, of) === tab);
}

/** bulkKeys are the fields that several tasks can be given at once. */
export const bulkKeys: readonly string[] = ["worker_group", "priority", "retry", "timeout", "allow_failure", "disabled"];
