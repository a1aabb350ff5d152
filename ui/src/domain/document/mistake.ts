// Which rule of YAML a text breaks, by the codes of the parser. One of its codes, a sign that is
// missing, stands for many mistakes: its message tells them apart.

import type { ErrorCode } from "yaml";

/** Rule is what a text that has no tree has broken. The page has a sentence for each. */
export type Rule =
  | "alias"
  | "alias_form"
  | "anchor"
  | "anchors"
  | "block_in_flow"
  | "bracket"
  | "colon"
  | "comma"
  | "directive"
  | "documents"
  | "escape"
  | "indent"
  | "key"
  | "key_length"
  | "key_lines"
  | "list_in_key"
  | "not_a_list"
  | "not_a_map"
  | "order"
  | "quote"
  | "scalar_start"
  | "space"
  | "tab"
  | "tag"
  | "task_not_a_map"
  | "twice"
  | "unexpected"
  | "value";

const rules: Partial<Record<ErrorCode, Rule>> = {
  ALIAS_PROPS: "alias_form",
  BAD_ALIAS: "alias_form",
  BAD_COLLECTION_TYPE: "tag",
  BAD_DIRECTIVE: "directive",
  BAD_DQ_ESCAPE: "escape",
  BAD_INDENT: "indent",
  BAD_PROP_ORDER: "order",
  BAD_SCALAR_START: "scalar_start",
  BLOCK_AS_IMPLICIT_KEY: "list_in_key",
  BLOCK_IN_FLOW: "block_in_flow",
  DUPLICATE_KEY: "twice",
  KEY_OVER_1024_CHARS: "key_length",
  MULTILINE_IMPLICIT_KEY: "key_lines",
  MULTIPLE_ANCHORS: "anchors",
  MULTIPLE_DOCS: "documents",
  MULTIPLE_TAGS: "tag",
  NON_STRING_KEY: "key",
  TAB_AS_INDENT: "tab",
  TAG_RESOLVE_FAILED: "tag",
  UNEXPECTED_TOKEN: "unexpected",
};

const missing: readonly [RegExp, Rule][] = [
  [/end with a [\]}]/, "bracket"],
  [/closing ['"]quote/, "quote"],
  [/followed by map values/, "colon"],
  [/^Missing ,/, "comma"],
  [/without - indicator/, "indent"],
  [/directives-end/, "directive"],
  [/white space|space after/, "space"],
];

/** ruleOf gives the rule of a mistake; undefined where only the parser has words for it. */
export function ruleOf(code: ErrorCode, message: string): Rule | undefined {
  if (code !== "MISSING_CHAR" && code !== "BAD_INDENT") return rules[code];
  return missing.find(([said]) => said.test(message))?.[1] ?? rules[code];
}
