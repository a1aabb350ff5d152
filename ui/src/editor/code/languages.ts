import { json } from "@codemirror/lang-json";
import { yaml } from "@codemirror/lang-yaml";
import { StreamLanguage } from "@codemirror/language";
import { python } from "@codemirror/legacy-modes/mode/python";
import { shell } from "@codemirror/legacy-modes/mode/shell";
import type { Extension } from "@codemirror/state";

/** Language is what a piece of code is written in. */
export type Language = "yaml" | "shell" | "python" | "json" | "plain";

// Their grammars would be some 20 KiB more; scripts here are coloured, not analysed.
const shells = StreamLanguage.define(shell);
const pythons = StreamLanguage.define(python);

/** languageOf is what reads a language. */
export function languageOf(language: Language): Extension {
  switch (language) {
    case "yaml":
      return yaml();
    case "shell":
      return shells;
    case "python":
      return pythons;
    case "json":
      return json();
    case "plain":
      return [];
  }
}
