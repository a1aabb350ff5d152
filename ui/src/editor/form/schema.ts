// The fields of a form, read from the JSON Schema that the server describes a task type with.

import type { Path } from "../../domain/document/path";
import type { Value } from "../../domain/document/tree";

/** Control is how a field is edited. "yaml" is what no control knows: it is shown, and edited in the text. */
export type Control =
  | "name"
  | "type"
  | "needs"
  | "tasks"
  | "cases"
  | "condition"
  | "join"
  | "line"
  | "text"
  | "script"
  | "integer"
  | "number"
  | "switch"
  | "choice"
  | "duration"
  | "moment"
  | "list"
  | "map"
  | "params"
  | "group"
  | "named"
  | "task_group"
  | "dependency"
  | "over"
  | "yaml";

/** Field is one key of the text as a form shows it. */
export interface Field {
  readonly key: string;
  /** path leads from the task, or the workflow, to the value. */
  readonly path: Path;
  readonly control: Control;
  readonly required: boolean;
  readonly advanced: boolean;
  readonly description: string;
  /** standard is the value where the text has none. */
  readonly standard: Value | undefined;
  readonly choices: readonly string[];
  readonly min: number | undefined;
  readonly max: number | undefined;
  readonly example: string | undefined;
  /** language is that of a script, and hint a control's own wish, such as "url" or "worker_group". */
  readonly language: string | undefined;
  readonly hint: string | undefined;
  /** numbers says that the elements of a list may be numbers. */
  readonly numbers: boolean;
  /** fields are those of a group, or of one element of a list of cases. */
  readonly fields: readonly Field[];
}

type Schema = Readonly<Record<string, unknown>>;

function isSchema(x: unknown): x is Schema {
  return typeof x === "object" && x !== null && !Array.isArray(x);
}

const asSchema = (x: unknown): Schema => (isSchema(x) ? x : {});
const number = (x: unknown) => (typeof x === "number" ? x : undefined);
const texts = (x: unknown) => (Array.isArray(x) ? x.filter((v): v is string => typeof v === "string") : []);

/** fieldsOf reads the properties of a schema, in the order in which a form shows them. */
export function fieldsOf(schema: Schema, root: Schema = schema, at: Path = []): Field[] {
  const required = new Set(texts(schema.required));
  const entries = Object.entries(asSchema(schema.properties)).map(([key, part]) => {
    const own = resolved(asSchema(part), root);
    return { order: number(own["x-order"]) ?? Number.MAX_SAFE_INTEGER, field: fieldOf(key, own, root, at, required.has(key)) };
  });
  return entries.sort((a, b) => a.order - b.order).map((e) => e.field);
}

// What stands beside a reference goes before what it refers to: a description of this very use.
function resolved(part: Schema, root: Schema): Schema {
  if (typeof part.$ref !== "string") return part;
  const { $ref, ...own } = part;
  return { ...asSchema(asSchema(root.$defs)[$ref.replace("#/$defs/", "")]), ...own };
}

function fieldOf(key: string, schema: Schema, root: Schema, at: Path, required: boolean): Field {
  const path = [...at, key];
  const control = controlOf(key, schema, at);
  const editor = typeof schema["x-editor"] === "string" ? schema["x-editor"] : undefined;
  const example = Array.isArray(schema.examples) ? schema.examples[0] : undefined;
  // Durations are texts: the bounds of their schema are those of the bare number 0.
  const bounded = control === "integer" || control === "number";
  return {
    key,
    path,
    control,
    required,
    advanced: schema["x-advanced"] === true,
    description: typeof schema.description === "string" ? schema.description : "",
    standard: isPlain(schema.default) ? schema.default : undefined,
    choices: texts(schema.enum),
    min: bounded ? number(schema.minimum) : undefined,
    max: bounded ? number(schema.maximum) : undefined,
    example: typeof example === "string" ? example : undefined,
    language: editor?.startsWith("script:") ? editor.slice("script:".length) : undefined,
    hint: editor,
    numbers: editor === "statuses" || texts(asSchema(schema.items).type).includes("number"),
    fields: control === "group" ? fieldsOf(schema, root, path) : control === "cases" ? fieldsOf(elementOf(schema, root), root, path) : [],
  };
}

function elementOf(list: Schema, root: Schema): Schema {
  return resolved(asSchema(list.items), root);
}

// Only plain values have a place as a placeholder.
function isPlain(x: unknown): x is string | number | boolean {
  return typeof x === "string" || typeof x === "number" || typeof x === "boolean";
}

const byEditor: Readonly<Record<string, Control>> = {
  tasks: "tasks",
  cases: "cases",
  params: "params",
  map: "map",
  names: "list",
  durations: "list",
  statuses: "list",
  duration: "duration",
  moment: "moment",
  text: "text",
  url: "line",
  worker_group: "line",
  task_group: "task_group",
  project: "named",
  workflow: "named",
  dependency: "dependency",
};

function controlOf(key: string, schema: Schema, at: Path): Control {
  const editor = schema["x-editor"];
  if (at.length === 0 && key === "name") return "name";
  if (at.length === 0 && key === "type" && schema.const !== undefined) return "type";
  if (at.length === 0 && key === "needs") return "needs";
  // The schemas have no sign of their own for expressions.
  if (at.length === 0 && key === "join" && schema.type === "string") return "join";
  if (at.length === 0 && key === "over") return "over";
  if (key === "when" && schema.type === "string") return "condition";
  if (typeof editor === "string") {
    if (editor.startsWith("script")) return "script";
    const known = byEditor[editor];
    if (known) return known;
  }
  if (texts(schema.enum).length > 0) return "choice";
  if (isSchema(schema.properties)) return "group";
  switch (schema.type) {
    case "boolean":
      return "switch";
    case "integer":
      return "integer";
    case "number":
      return "number";
    case "string":
      return "line";
    case "array":
      return asSchema(schema.items).type === "object" ? "yaml" : "list";
    case "object":
      return isSchema(schema.additionalProperties) ? "map" : "yaml";
    default:
      return "yaml";
  }
}

/** unknownKeys are those of a text that the schema does not have. */
export function unknownKeys(fields: readonly Field[], text: Readonly<Record<string, unknown>>): string[] {
  const known = new Set(fields.map((f) => f.key));
  return Object.keys(text).filter((key) => !known.has(key));
}

/** commonFields are those that every one of several forms has in the same shape. */
export function commonFields(forms: readonly (readonly Field[])[]): Field[] {
  const [first = [], ...rest] = forms;
  return first.filter((f) => rest.every((form) => form.some((g) => g.key === f.key && g.control === f.control)));
}

interface Described {
  readonly type: string;
  readonly schema: Schema;
}

/** lostBy gives the keys of a task that another type does not have. What its own type does not know is not ours to take away. */
export function lostBy(
  types: readonly Described[],
  task: { type: string; fields: Readonly<Record<string, unknown>> },
  to: string,
): string[] {
  const of = (type: string) => types.find((x) => x.type === type)?.schema;
  const next = of(to);
  if (!next || to === task.type) return [];
  const known = new Set(fieldsOf(of(task.type) ?? {}).map((f) => f.key));
  return unknownKeys(fieldsOf(next), task.fields).filter((key) => known.has(key));
}
