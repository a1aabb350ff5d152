// The sentence of a problem, in the page's language.

import i18next from "i18next";
import type { ReadError } from "../../domain/document/read";
import type { Finding } from "../../domain/document/validate";
import type { Say, Sentence } from "../../i18n";
import { en } from "../../i18n/en";

function isSentence(key: string): key is Sentence & keyof typeof en {
  return Object.hasOwn(en, key);
}

/**
 * sentenceOf says what is wrong. The server's messages are English and know most: they are shown
 * there. Elsewhere, and for findings of the page itself, the code has a sentence; where it lacks a
 * value, or nobody knows the code, the server's own words stand.
 */
export function sentenceOf(t: Say, finding: Finding): string {
  const { code, message } = finding;
  // What the page could not read by itself is said by it, in every language.
  if (finding.rule !== undefined) return t(`text.y.${finding.rule}`);
  // An empty workflow is a beginning, not a mistake in a range.
  if (finding.field === "tasks" && code === "out_of_range" && message.includes("has 0 entries")) return t("text.p.noTasks");
  const spoken = i18next.resolvedLanguage ?? "en";
  const key = `text.p.${code}`;
  if ((message !== "" && spoken.startsWith("en")) || !isSentence(key)) return message || code;
  const values = valuesOf(finding);
  const holes = [...en[key].matchAll(/\{\{(\w+)\}\}/g)].map((m) => m[1] ?? "");
  const bare = `${key}.bare`;
  if (holes.every((hole) => values[hole] !== undefined && values[hole] !== "")) return t(key, values);
  return isSentence(bare) ? t(bare, values) : message || code;
}

/** mistakeOf says why a text could not be read. */
export function mistakeOf(t: Say, { code, message, rule }: ReadError): string {
  return sentenceOf(t, { field: "body", code, message, ...(rule && { rule }) });
}

function valuesOf({ field, value, args, message }: Finding): Record<string, string> {
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
