// Names of tasks as they are typed, in the form and in the list.

import { setFields } from "../../domain/document/fields";
import type { Task } from "../../domain/document/read";
import { badName } from "../../domain/document/tasks";
import type { Say } from "../../i18n";
import { rename, taken } from "../commands";
import type { Document } from "../document";

/** refusalOf says why a task cannot have a name; undefined is a name that it can have. */
export function refusalOf(t: Say, doc: Document, name: string, own: string): string | undefined {
  const bad = badName(name);
  if (bad) return t(`form.bad.${bad}`);
  return taken(doc, name, own) ? t("form.bad.name_taken", { name }) : undefined;
}

/** renameTo gives a task another name. Where two tasks share the old one, references cannot tell which is meant: they stay. */
export function renameTo(doc: Document, task: Task, to: string): boolean {
  const same = doc.current().model.tasks.filter((x) => x.name === task.name).length;
  if (same === 1 && task.name !== "") return rename(doc, task.name, to);
  return doc.edit("rename", (r) => setFields(r, [task], ["name"], to), { tasks: [to] });
}
