// What can stand at a place of a workflow's text: keys by the schema, words of a choice, names of tasks.
// It looks at indentation, not at the tree: while somebody types, the text seldom parses.

import { isSchema, type Schema, textsOf } from "../../domain/document/shape";

/** Forms are the schemas, as GET /task-types answers them. */
export interface SchemaForms {
  readonly items: readonly { readonly type: string; readonly description: string; readonly schema: unknown }[];
  readonly workflow: { readonly schema: unknown };
}

/** Place is where a caret stands: the keys that lead there, whether a key or a value is typed, and the task around it. */
export interface YamlPlace {
  readonly path: readonly string[];
  readonly kind: "key" | "value";
  /** from is where the word at the caret begins, on its line. */
  readonly from: number;
  readonly task: number | undefined;
  /** type of the task, as far as it is written. */
  readonly type: string | undefined;
  /** keys that stand beside the caret already. */
  readonly taken: ReadonlySet<string>;
}

/** Option is one thing that could be typed. */
export interface Option {
  readonly label: string;
  readonly about: string;
  readonly required?: boolean;
  /** apply is what is put in, where it is more than the label. */
  readonly apply?: string;
}

const keyLine = /^(\s*)(- +)?(?:(["']?)([\w.-]+)\3\s*:(?=\s|$))?(.*)$/;

interface Line {
  readonly indent: number;
  readonly dash: boolean;
  readonly key: string | undefined;
  readonly rest: string;
}

// The column of a key behind a dash is that of the key: "  - name:" stands beside "    type:".
function lineOf(text: string): Line | undefined {
  if (/^\s*(#|$)/.test(text)) return undefined;
  const m = keyLine.exec(text);
  if (!m) return undefined;
  const lead = (m[1]?.length ?? 0) + (m[2]?.length ?? 0);
  return { indent: lead, dash: m[2] !== undefined, key: m[4], rest: (m[5] ?? "").trim() };
}

/** placeIn finds the place of a column on the last of these lines; below are the lines after it. */
export function placeIn(above: readonly string[], column: number, below: readonly string[] = []): YamlPlace | undefined {
  const before = (above.at(-1) ?? "").slice(0, column);
  if (/^\s*#|\s#/.test(before)) return undefined;
  const head = /^(\s*)(- +)?/.exec(before)?.[0] ?? "";
  const value = /^\s*(?:- +)?(["']?)([\w.-]+)\1\s*:\s+/.exec(before);
  const listItem = !value && /^\s*- +$/.test(head);
  const { path, task, lines } = chain(above, head.length, listItem);
  const type = task === undefined ? undefined : typeOf(lines, below);
  const inList = flowStart(before);
  if (value?.[2]) return { path: [...path, value[2]], kind: "value", from: inList ?? value[0].length, task, type, taken: new Set() };
  const owner = path.at(-1);
  if (listItem && owner !== undefined && owner !== "tasks") return { path, kind: "value", from: head.length, task, type, taken: new Set() };
  return { path, kind: "key", from: head.length, task, type, taken: siblings(above, head.length, below) };
}

// In [a, b a word begins behind the last bracket or comma.
function flowStart(before: string): number | undefined {
  const open = before.lastIndexOf("[");
  if (open < 0 || before.indexOf("]", open) >= 0) return undefined;
  const comma = before.lastIndexOf(",");
  const at = Math.max(open, comma) + 1;
  return at + (/^\s*/.exec(before.slice(at))?.[0].length ?? 0);
}

interface Chain {
  readonly path: readonly string[];
  readonly task: number | undefined;
  /** lines of the task around the place, from its dash on. */
  readonly lines: readonly string[];
}

// Upwards, each line that stands further left is around the place.
function chain(above: readonly string[], column: number, listItem: boolean): Chain {
  const path: string[] = [];
  let limit = column;
  let task: number | undefined;
  let begin = above.length - 1;
  let inTasks = false;
  for (let i = above.length - 2; i >= 0 && limit > 0; i--) {
    const line = lineOf(above[i] ?? "");
    if (!line?.key) continue;
    if (line.indent < limit || (listItem && path.length === 0 && line.indent <= column - 2)) {
      if (line.rest === "" || line.rest.startsWith("#")) {
        path.unshift(line.key);
        limit = line.indent;
      }
      if (line.key === "tasks" && line.indent === 0) inTasks = true;
    }
    if (line.indent === 0) break;
  }
  if (inTasks || path[0] === "tasks") {
    const dashes = above.flatMap((l, i) => (/^\s*- /.test(l) ? [{ i, line: lineOf(l) }] : []));
    const column = dashes.find((x) => x.line?.key !== undefined)?.line?.indent ?? Number.POSITIVE_INFINITY;
    const own = dashes.filter((x) => x.line?.indent === column);
    task = own.length - 1;
    begin = own.at(-1)?.i ?? begin;
    if (task < 0) task = undefined;
  }
  return { path: path[0] === "tasks" ? path.slice(1) : path, task, lines: above.slice(begin) };
}

function typeOf(lines: readonly string[], below: readonly string[]): string | undefined {
  for (const text of lines) {
    const line = lineOf(text);
    if (line?.key === "type" && line.rest !== "") return line.rest.replace(/["']/g, "").replace(/\s+#.*$/, "");
  }
  for (const text of below) {
    const line = lineOf(text);
    if (line?.dash || line?.indent === 0) return undefined;
    if (line?.key === "type") return line.rest.replace(/["']/g, "");
  }
  return undefined;
}

function siblings(above: readonly string[], column: number, below: readonly string[]): ReadonlySet<string> {
  const out = new Set<string>();
  const walk = (lines: readonly string[], up: boolean) => {
    for (const text of lines) {
      const line = lineOf(text);
      if (!line) continue;
      if (!up && line.dash && line.indent <= column) return;
      if (line.indent < column) return;
      if (line.indent === column && line.key) out.add(line.key);
      if (up && line.dash && line.indent === column) return;
    }
  };
  const own = lineOf(`${(above.at(-1) ?? "").slice(0, column)}x: `);
  if (!own?.dash) walk(above.slice(0, -1).reverse(), true);
  walk(below, false);
  return out;
}

/** schemaAt is the schema of a path below a task of a type, or of the workflow. */
export function schemaAt(forms: SchemaForms, place: Pick<YamlPlace, "path" | "task" | "type">): Schema | undefined {
  const root = rootOf(forms, place);
  let here: Schema | undefined = root;
  for (const step of place.path) {
    const properties: unknown = here?.properties;
    const open: unknown = here?.additionalProperties;
    const next: unknown = isSchema(properties) && step in properties ? properties[step] : isSchema(open) ? open : undefined;
    if (!isSchema(next)) return undefined;
    here = resolved(next, root ?? {});
  }
  return here;
}

function rootOf(forms: SchemaForms, { task, type }: Pick<YamlPlace, "task" | "type">): Schema | undefined {
  const form = task === undefined ? forms.workflow.schema : (forms.items.find((i) => i.type === type) ?? forms.items.at(-1))?.schema;
  return isSchema(form) ? form : undefined;
}

function resolved(part: Schema, root: Schema): Schema {
  const plain = Array.isArray(part.anyOf) ? (part.anyOf.filter(isSchema).find((s) => s.type === "object") ?? part) : part;
  if (typeof plain.$ref !== "string") return { ...plain, description: part.description ?? plain.description };
  const defs = isSchema(root.$defs) ? root.$defs : {};
  const target = defs[plain.$ref.replace("#/$defs/", "")];
  return isSchema(target) ? { ...target, ...part } : part;
}

/** optionsAt are the things that fit a place. tasks are the names that a task can need. */
export function optionsAt(forms: SchemaForms, place: YamlPlace, tasks: readonly string[]): readonly Option[] {
  if (place.kind === "key") return keysAt(forms, place);
  const last = place.path.at(-1);
  if (place.task !== undefined && place.path.length === 1) {
    if (last === "needs" || last === "else") return tasks.map((label) => ({ label, about: "" }));
    if (last === "type") return forms.items.map((i) => ({ label: i.type, about: i.description }));
  }
  if (place.task !== undefined && place.path[0] === "cases" && last === "then") return tasks.map((label) => ({ label, about: "" }));
  const schema = schemaAt(forms, place);
  const words = textsOf(schema?.enum);
  if (words.length > 0) return words.map((label) => ({ label, about: label === schema?.default ? "=" : "" }));
  if (schema?.type === "boolean") return ["true", "false"].map((label) => ({ label, about: "" }));
  return textsOf(schema?.examples).map((label) => ({ label, about: "" }));
}

function keysAt(forms: SchemaForms, place: YamlPlace): readonly Option[] {
  const schema = schemaAt(forms, place);
  const properties = isSchema(schema?.properties) ? schema.properties : {};
  const root = rootOf(forms, place) ?? {};
  const needed = new Set(textsOf(schema?.required));
  const keys = Object.entries(properties).filter(([key]) => !place.taken.has(key));
  const options = keys.map(([key, part]) => {
    const own = isSchema(part) ? resolved(part, root) : {};
    const order = typeof own["x-order"] === "number" ? own["x-order"] : Number.MAX_SAFE_INTEGER;
    const about = typeof own.description === "string" ? own.description : "";
    return { order, option: { label: key, about, required: needed.has(key), apply: `${key}: ` } };
  });
  return options.sort((a, b) => a.order - b.order).map((o) => o.option);
}
