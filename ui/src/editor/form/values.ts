// What is typed into a field and what stands in the text. Nothing typed is lost: what is no number
// stays in the text as it is, and the field says what is wrong.

import { isFields } from "../../domain/document/read";
import { differ } from "../../domain/document/text";
import type { Fields, Value } from "../../domain/document/tree";
import type { Field } from "./schema";

/** shown is a value as a field of one line shows it. */
export function shown(value: Value | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** numberOr reads a number where writing it back gives the very same characters; else it stays a text. */
export function numberOr(text: string): string | number {
  const n = Number(text);
  return text !== "" && Number.isFinite(n) && String(n) === text ? n : text;
}

/** like reads what was typed as the kind that is declared, or that stood there before. */
export function like(text: string, declared: string | undefined, before: Value | undefined): string | number | boolean {
  const kind = declared ?? typeof before;
  if (kind === "integer" || kind === "number") return numberOr(text);
  if (kind === "boolean" && (text === "true" || text === "false")) return text === "true";
  return text;
}

/** startsWord tells whether an edit begins a word: what was typed before is undone by itself. */
export function startsWord(before: string, after: string): boolean {
  const [edit] = differ(before, after);
  if (edit?.insert.length !== 1 || edit.from !== edit.to || /\s/.test(edit.insert)) return false;
  return edit.from > 0 && /\s/.test(before[edit.from - 1] ?? "");
}

/** valueAt reads a path of a map of fields. */
export function valueAt(fields: Fields, path: readonly (string | number)[]): Value | undefined {
  let here: Value | undefined = fields;
  for (const step of path) {
    if (typeof step === "number") here = isList(here) ? here[step] : undefined;
    // Object.hasOwn: a key called "constructor" is not what every object has.
    else here = isFields(here) && Object.hasOwn(here, step) ? here[step] : undefined;
    if (here === undefined) return undefined;
  }
  return here;
}

function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

/** Bad is what a field can tell by itself, before the server does. */
export type Bad = "integer" | "number" | "min" | "max" | "choice" | "duration" | "shape";

const durationForm = /^(0|(?=\d)(\d+d)?(\d+h)?(\d+m)?(\d+s)?(\d+ms)?)$/;

/** wrong tells what is wrong with a value, as far as its schema alone can tell. An empty field is the server's matter. */
export function wrong(field: Field, value: Value | undefined): Bad | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const text = typeof value === "string" ? value : undefined;
  if (text?.includes("${")) return undefined;
  switch (field.control) {
    case "integer":
    case "number":
      if (typeof value !== "number") return field.control;
      if (field.control === "integer" && !Number.isInteger(value)) return "integer";
      if (field.min !== undefined && value < field.min) return "min";
      return field.max !== undefined && value > field.max ? "max" : undefined;
    case "choice":
      return field.choices.includes(shown(value)) ? undefined : "choice";
    case "duration":
      return durationForm.test(shown(value)) ? undefined : "duration";
    case "line":
    case "text":
    case "script":
    case "condition":
    case "join":
    case "moment":
      return typeof value === "object" ? "shape" : undefined;
    case "list":
      return Array.isArray(value) || field.numbers || typeof value !== "object" ? undefined : "shape";
    case "tasks":
    case "cases":
      return Array.isArray(value) ? undefined : "shape";
    case "map":
    case "params":
    case "group":
      return isFields(value) ? undefined : "shape";
    default:
      return undefined;
  }
}

/** listOf reads a list of words; one word alone is a list of one. */
export function listOf(value: Value | undefined): string[] {
  if (isList(value)) return value.map(shown);
  return value === undefined || value === null || typeof value === "object" ? [] : [shown(value)];
}

/** freeKey gives stem, or stem_2, stem_3 ... where it is taken. */
export function freeKey(stem: string, taken: readonly string[]): string {
  for (let n = 1; ; n++) {
    const key = n === 1 ? stem : `${stem}_${n}`;
    if (!taken.includes(key)) return key;
  }
}
