import { ApiError } from "../api/error";
import type { Say, Sentence } from "../i18n";
import { ofCode } from "../i18n/codes";

// The server says what is wrong by a code and an English sentence; where the code is known
// here, the person reads the sentence of his language.

const sentences: Record<string, Sentence> = {
  wrong_sign_in: "account.err.wrong_sign_in",
  too_many: "account.err.too_many",
  wrong_password: "account.err.wrong_password",
  unchanged: "account.err.unchanged",
  too_easy: "account.err.too_easy",
  must_change_password: "account.err.must_change_password",
  set_up_already: "account.err.set_up_already",
  last_owner: "account.err.last_owner",
  name_taken: "account.err.name_taken",
  in_use: "account.err.in_use",
  not_failed: "today.notFailed",
};

// Codes that mean something else in another field.
const ofField: Record<string, Sentence> = {
  "password out_of_range": "account.err.passwordLength",
  "new out_of_range": "account.err.passwordLength",
  "round changed": "today.changedMeanwhile",
  "user not_found": "account.err.noUser",
  "expires_at out_of_range": "account.err.expiry",
  "name required": "account.err.nameNeeded",
  "name invalid_name": "account.err.nameForm",
  "name encoding": "account.err.nameForm",
  "name too_large": "account.err.nameForm",
  "project required": "account.err.nameNeeded",
  "project invalid_name": "account.err.nameForm",
  "project encoding": "account.err.nameForm",
  "project too_large": "account.err.nameForm",
  "cron required": "cron.err.required",
  "cron invalid": "cron.err.invalid",
  "cron not_in_enum": "cron.err.invalid",
  "cron out_of_range": "cron.err.out_of_range",
  "cron too_large": "cron.err.too_large",
  "cron never_fires": "cron.err.never_fires",
  "timezone invalid": "cron.err.timezone",
};

/** sentenceOf finds the sentence of a code in a field; undefined where only the server has words for it. */
export function sentenceOf(field: string, code: string): Sentence | undefined {
  return ofField[`${field} ${code}`] ?? sentences[code];
}

/** valuesOf are what the sentence of a wrong field may name: what stands there, where, and what is allowed. */
function valuesOf(f: { value?: string; column?: number; message: string }): Record<string, string | number> {
  return { value: f.value ?? "", column: f.column ?? 1, range: rangeIn(f.message) ?? "" };
}

/** rangeIn finds the allowed range that a message of the server ends with. */
function rangeIn(message: string): string | undefined {
  return / in (\d\w*-\d\w*)$/.exec(message)?.[1];
}

/** knownOf finds the sentence of a wrong field where it says no less than the server's own. */
function knownOf(f: { field: string; code: string; message: string }): Sentence | undefined {
  const sentence = sentenceOf(f.field, f.code);
  return sentence === "cron.err.out_of_range" && !rangeIn(f.message) ? "cron.err.beyond" : sentence;
}

/** topics are where the sentences of codes are that no form has words of its own for. */
const topics = ["code", "text.p"];

/** wrongFields gives the sentence of each wrong field, the server's own where nobody has words for the code. */
export function wrongFields(error: unknown, t: Say): Record<string, string> {
  const out: Record<string, string> = {};
  if (!(error instanceof ApiError)) return out;
  for (const f of error.fields) {
    const known = knownOf(f);
    out[f.field] ??= known ? t(known, valuesOf(f)) : (ofCode(t, f, ...topics) ?? f.message);
  }
  return out;
}

/** said is one sentence for the whole error, or undefined where there is none but the server's. */
export function said(error: unknown, t: Say): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  for (const f of error.fields) {
    const known = knownOf(f);
    if (known) return t(known, valuesOf(f));
  }
  for (const f of error.fields) {
    const words = ofCode(t, f, ...topics);
    if (words !== undefined && words !== f.message) return words;
  }
  return undefined;
}
