// The sentence of a problem, in the page's language.

import type { ReadError } from "../../domain/document/read";
import type { Finding } from "../../domain/document/validate";
import type { Say } from "../../i18n";
import { ofCode } from "../../i18n/codes";

export { lastOf } from "../../i18n/codes";

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
  return ofCode(t, finding, "text.p") ?? (message || code);
}

/** mistakeOf says why a text could not be read. */
export function mistakeOf(t: Say, { code, message, rule }: ReadError): string {
  return sentenceOf(t, { field: "body", code, message, ...(rule && { rule }) });
}
