import { type Say, spokenLanguage } from ".";
import { en, type Key } from "./en";

// Codes of the server in the page's language.

/** Coded is what the server says is wrong: by a code for programs, and in English. */
export interface Coded {
  field: string;
  code: string;
  message: string;
  value?: string | undefined;
  args?: Record<string, unknown> | undefined;
}

function isSentence(key: string): key is Key {
  return Object.hasOwn(en, key);
}

/** speaksEnglish tells whether the server's own words are the reader's. They say most: of what, by how much. */
const speaksEnglish = () => spokenLanguage() === "en";

/**
 * ofCode is the sentence of a code by the first of some topics that has one, and the server's own words where those are the
 * reader's. Where the sentence lacks a value there is a barer one, or none: undefined.
 */
export function ofCode(t: Say, of: Coded, ...topics: string[]): string | undefined {
  if (of.message !== "" && speaksEnglish()) return of.message;
  const key = topics.map((topic) => `${topic}.${of.code}`).find(isSentence);
  if (key === undefined) return undefined;
  const values = valuesOf(of);
  const holes = [...en[key].matchAll(/\{\{(\w+)\}\}/g)].map((m) => m[1] ?? "");
  const bare = `${key}.bare`;
  if (holes.every((hole) => values[hole] !== undefined && values[hole] !== "")) return t(key, values);
  return isSentence(bare) ? t(bare, values) : undefined;
}

function valuesOf({ field, value, args, message }: Coded): Record<string, string> {
  const out: Record<string, string> = { field: lastOf(field) || field, message };
  if (value !== undefined) out.value = value;
  for (const [name, arg] of Object.entries(args ?? {})) {
    out[name] = Array.isArray(arg) ? arg.map(String).join(name === "tasks" ? " → " : ", ") : String(arg);
  }
  return out;
}

/** lastOf is a field below its task: "retry.times" of "tasks[1].retry.times". */
export function lastOf(field: string): string {
  return field.replace(/^tasks\[\d+\]\.?/, "");
}
