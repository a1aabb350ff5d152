import { EditorState, type Extension } from "@codemirror/state";
import type { Say, Sentence } from "../../i18n";

// What the packages say of themselves, by their own English words.
const said: Readonly<Record<string, Sentence>> = {
  Find: "text.cm.find",
  Replace: "text.cm.replaceWith",
  next: "text.cm.next",
  previous: "text.cm.previous",
  all: "text.cm.all",
  "match case": "text.cm.case",
  "by word": "text.cm.word",
  regexp: "text.cm.regexp",
  replace: "text.cm.replace",
  "replace all": "text.cm.replaceAll",
  close: "common.close",
  "current match": "text.cm.current",
  "on line": "text.cm.onLine",
  "replaced $ matches": "text.cm.replaced",
  "replaced match on line $": "text.cm.replacedOn",
  "Go to line": "text.cm.goToLine",
  go: "text.cm.go",
  Completions: "text.cm.completions",
  Diagnostics: "text.cm.problems",
  "No diagnostics": "text.cm.noProblems",
  "Control character": "text.cm.control",
  "Selection deleted": "text.cm.deleted",
};

/** phrases makes the packages speak the page's language. */
export function phrases(t: Say): Extension {
  return EditorState.phrases.of(Object.fromEntries(Object.entries(said).map(([own, key]) => [own, t(key)])));
}
