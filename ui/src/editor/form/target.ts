// What a form edits: one task, several, or the workflow itself. The renderer of fields knows no more than this.

import { removeField, setField } from "../../domain/document/edit";
import { indexOf, type Spot, setFields, typeField, typeFields } from "../../domain/document/fields";
import type { Path } from "../../domain/document/path";
import type { Task, Workflow } from "../../domain/document/read";
import type { Value } from "../../domain/document/tree";
import { type Problem, type Problems, problemsAt } from "../../domain/document/validate";
import type { Document } from "../document";
import { startsWord, valueAt } from "./values";

/** Target is where a form's values come from and go to. Paths lead from the task or the workflow. */
export interface Target {
  /** id tells targets apart, also in the group of a run of keystrokes. */
  readonly id: string;
  read(path: Path): Value | undefined;
  /** mixed tells that several tasks differ there. */
  mixed(path: Path): boolean;
  /** write sets a value, undefined takes it away. It answers false where it was refused. */
  write(path: Path, value: Value | undefined): boolean;
  /** type writes what is being typed: keystrokes that follow each other are one step, word by word. */
  type(path: Path, value: Value, typed: { readonly before: string; readonly after: string }): boolean;
  problems(path: Path): readonly Problem[];
  /** whole gives the path in the document, for what is edited there. */
  whole(path: Path): Path;
}

const none: readonly Problem[] = [];

/** taskTarget edits one task. */
export function taskTarget(doc: Document, task: Task, problems: Problems): Target {
  const spot = { index: task.index, name: task.name };
  return {
    id: task.name || `#${task.index}`,
    read: (path) => valueAt(task.fields, path),
    mixed: () => false,
    write: (path, value) => doc.edit("field", (r) => setFields(r, [spot], path, value)),
    type: (path, value, typed) => {
      if (startsWord(typed.before, typed.after)) doc.seal();
      return doc.edit("field", (r) => typeFields(r, [spot], path, value), { group: group(task.name, path) });
    },
    problems: (path) =>
      problemsAt(problems, task.name === "" ? `#${task.index + 1}` : task.name, path).filter((p) => p.index === task.index),
    whole: (path) => ["tasks", indexOf(doc.current(), spot), ...path],
  };
}

/** bulkTarget edits several tasks: each change is one command for all. */
export function bulkTarget(doc: Document, tasks: readonly Task[]): Target {
  const spots: readonly Spot[] = tasks.map(({ index, name }) => ({ index, name }));
  const id = `${spots.length} tasks from ${spots[0]?.name ?? ""}`;
  const texts = (path: Path) => new Set(tasks.map((t) => JSON.stringify(valueAt(t.fields, path))));
  return {
    id,
    read: (path) => (texts(path).size === 1 && tasks[0] ? valueAt(tasks[0].fields, path) : undefined),
    mixed: (path) => texts(path).size > 1,
    write: (path, value) => doc.edit("fields", (r) => setFields(r, spots, path, value)),
    type: (path, value, typed) => {
      if (startsWord(typed.before, typed.after)) doc.seal();
      return doc.edit("fields", (r) => typeFields(r, spots, path, value), { group: group(id, path) });
    },
    problems: () => none,
    whole: (path) => path,
  };
}

/** workflowTarget edits the workflow's own keys. */
export function workflowTarget(doc: Document, workflow: Workflow, problems: Problems): Target {
  const edit = (path: Path, value: Value | undefined) => (r: Parameters<typeof setField>[0]) =>
    value === undefined ? removeField(r, path) : setField(r, path, value);
  return {
    id: "",
    read: (path) => valueAt(workflow.fields, path),
    mixed: () => false,
    write: (path, value) => doc.edit("field", edit(path, value)),
    type: (path, value, typed) => {
      if (startsWord(typed.before, typed.after)) doc.seal();
      return doc.edit("field", (r) => typeField(r, path, value), { group: group("", path) });
    },
    problems: (path) => problemsAt(problems, undefined, path),
    whole: (path) => path,
  };
}

function group(owner: string, path: Path): string {
  return `field:${owner}:${path.join(".")}`;
}
