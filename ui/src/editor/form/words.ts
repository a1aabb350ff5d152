import type { Sentence } from "../../i18n";
import { type Say, useSay } from "../../i18n";
import { en } from "../../i18n/en";
import type { Field } from "./schema";

/** fieldKey is the key of a field's word, by its place: "retry.times". */
export function fieldKey(path: readonly (string | number)[]): string {
  return path.filter((s) => typeof s === "string").join(".");
}

function has(key: string): key is Sentence {
  return key in en;
}

/** say gives a sentence that may not exist: a server newer than this page has fields without words of ours. */
export function sayOr(t: Say, key: string, other: string): string {
  return has(key) ? t(key) : other;
}

/** useFieldWords names and explains fields: in the page's language, else in the schema's own words. */
export function useFieldWords(): { label: (f: Field) => string; help: (f: Field) => string } {
  const { t } = useSay();
  return {
    label: (f) => sayOr(t, `form.field.${fieldKey(f.path)}`, f.key.replaceAll("_", " ")),
    help: (f) => sayOr(t, `form.help.${fieldKey(f.path)}`, f.description),
  };
}
