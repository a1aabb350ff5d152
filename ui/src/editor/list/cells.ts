// What the cells of the list show, and what is done with what is typed into them.

import type { TaskType } from "../../api/client";
import { setFields } from "../../domain/document/fields";
import type { Task } from "../../domain/document/read";
import { setNeeds } from "../../domain/document/tasks";
import { reachable } from "../../domain/graph/model";
import type { Say } from "../../i18n";
import type { Document } from "../document";
import { refusalOf, renameTo } from "../form/naming";
import { fieldsOf } from "../form/schema";
import { numberOr, shown, valueAt, wrong } from "../form/values";
import { namesIn } from "./rows";

/** columns are those of the list, in their order. */
export const columns = ["state", "name", "type", "needs", "worker_group", "retries", "timeout", "problems"] as const;
export type Column = (typeof columns)[number];

const paths = { worker_group: ["worker_group"], retries: ["retry", "times"], timeout: ["timeout", "after"] } as const;

/** canEdit tells which columns are edited in place. */
export function canEdit(column: Column): boolean {
  return column !== "state" && column !== "problems";
}

/** textOf is what a cell shows, and what its field begins with. */
export function textOf(task: Task, column: Column): string {
  switch (column) {
    case "name":
      return task.name;
    case "type":
      return task.type;
    case "needs":
      return task.needs.join(", ");
    case "worker_group":
    case "retries":
    case "timeout":
      return shown(valueAt(task.fields, paths[column]));
    default:
      return "";
  }
}

/** commit does what was typed into a cell. It answers why not, in words, where it was not done. */
export function commit(doc: Document, t: Say, task: Task, column: Column, text: string, types: readonly TaskType[]): string | undefined {
  if (text === textOf(task, column)) return undefined;
  switch (column) {
    case "name":
      return refusalOf(t, doc, text, task.name) ?? done(t, doc, renameTo(doc, task, text));
    case "needs":
      return needs(doc, t, task, namesIn(text));
    case "worker_group":
      return put(doc, t, task, column, text);
    case "retries":
    case "timeout":
      return badText(t, task, column, text, types) ?? put(doc, t, task, column, text);
    default:
      return undefined;
  }
}

function put(doc: Document, t: Say, task: Task, column: keyof typeof paths, text: string): string | undefined {
  const value = text === "" ? undefined : column === "retries" ? numberOr(text) : text;
  return done(
    t,
    doc,
    doc.edit("field", (r) => setFields(r, [task], paths[column], value)),
  );
}

function done(t: Say, doc: Document, ok: boolean): string | undefined {
  return ok ? undefined : t("list.refused", { code: doc.state.refusal?.code ?? "" });
}

function badText(t: Say, task: Task, column: "retries" | "timeout", text: string, types: readonly TaskType[]): string | undefined {
  const schema = (types.find((x) => x.type === task.type) ?? types[0])?.schema;
  const [group, key] = paths[column];
  const field =
    schema &&
    fieldsOf(schema)
      .find((f) => f.key === group)
      ?.fields.find((f) => f.key === key);
  const bad = field && wrong(field, column === "retries" ? numberOr(text) : text);
  return bad && t(`form.bad.${bad}`, { min: field.min ?? 0, max: field.max ?? 0, choices: "" });
}

function needs(doc: Document, t: Say, task: Task, names: readonly string[]): string | undefined {
  const { tasks } = doc.current().model;
  const fresh = names.filter((n) => !task.needs.includes(n));
  const unknown = fresh.find((n) => !tasks.some((x) => x.name === n));
  if (unknown !== undefined) return t("list.noTask", { name: unknown });
  const below = reachable(tasks, task.name, "below");
  const circle = fresh.find((n) => below.has(n));
  if (circle !== undefined) return t("list.cycle", { name: circle });
  return done(
    t,
    doc,
    doc.edit("needs", (r) => setNeeds(r, task.name, names)),
  );
}
