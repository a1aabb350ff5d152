// Completion of parameter names in scripts and other texts.

import type { Completion, CompletionContext, CompletionResult } from "@codemirror/autocomplete";

/** KnownName is a parameter or output that a place can use. */
export interface KnownName {
  readonly name: string;
  /** sample is a value as it was or would be; origin is where it comes from, in words. */
  readonly sample?: string;
  readonly origin?: string;
}

const shown = 40;

/** completeNames lists the names behind `$` and `${`; closing says whether the brace is put in too. */
export function completeNames(names: () => readonly KnownName[]) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.matchBefore(/\$\{?[\w.]*$/);
    if (!before) return null;
    const braced = before.text.startsWith("${");
    const from = before.from + (braced ? 2 : 1);
    const closed = context.state.sliceDoc(context.pos, context.pos + 1) === "}";
    const options = names()
      // Without braces a dot ends the name.
      .filter((n) => braced || !n.name.includes("."))
      .map((n): Completion => {
        const sample = n.sample !== undefined && n.sample.length > shown ? `${n.sample.slice(0, shown)}…` : n.sample;
        return { label: n.name, detail: sample, info: n.origin, type: "variable", apply: braced && !closed ? `${n.name}}` : n.name };
      });
    return options.length === 0 ? null : { from, options, validFor: /^[\w.]*$/ };
  };
}
