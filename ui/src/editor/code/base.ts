// What all code editors of the console share. CodeMirror writes its styles into a shadow root by
// adoptedStyleSheets there, which the page's strict policy allows; in the page itself it would want a nonce.

import { closeCompletion, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentUnit } from "@codemirror/language";
import { nextDiagnostic, previousDiagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, type ChangeSet, Compartment, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import type { Splice } from "../../domain/document/text";
import type { Say } from "../../i18n";
import { phrases } from "./phrases";
import { theme } from "./theme";

/** outside marks a change that came from the document: it must not go back to it. */
export const outside = Annotation.define<true>();

/** shadowOf is the place inside an element where an editor may stand. */
export function shadowOf(host: HTMLElement): ShadowRoot {
  return host.shadowRoot ?? host.attachShadow({ mode: "open" });
}

/** Steps takes undo and redo; the editors keep no history of their own. */
export interface Steps {
  readonly undo: () => void;
  readonly redo: () => void;
}

function stepKeys(steps: Steps): Extension {
  const run = (event: Event, back: boolean) => {
    event.preventDefault();
    if (back) steps.undo();
    else steps.redo();
    return true;
  };
  return EditorView.domEventHandlers({
    // By hand and not by the key map, to which Shift with a lower-case z, as Caps Lock gives it, is no Shift.
    keydown: (event) => {
      const key = event.key.toLowerCase();
      if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y")) return false;
      return run(event, key === "z" && !event.shiftKey);
    },
    // The menu of the browser and phones undo without a key.
    beforeinput: (event) => {
      if (event.inputType !== "historyUndo" && event.inputType !== "historyRedo") return false;
      return run(event, event.inputType === "historyUndo");
    },
  });
}

// Over a selection the browser itself would insert a span with a style attribute, which the page's
// policy forbids and writes down as an error. Composed input can't be taken over, and needs none of it.
const typedOver = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    const { data, inputType } = event;
    if (inputType !== "insertText" || data === null || event.isComposing || view.composing || view.state.readOnly) return false;
    if (view.state.selection.ranges.every((r) => r.empty)) return false;
    event.preventDefault();
    view.dispatch(view.state.replaceSelection(data), { userEvent: "input.type", scrollIntoView: true });
    return true;
  },
});

/** Parts are what can change while an editor is open. */
export class Parts {
  readonly language = new Compartment();
  readonly words = new Compartment();
  readonly readOnly = new Compartment();
  readonly tab = new Compartment();
  readonly label = new Compartment();
}

/** tabKey lets Tab indent; without it Tab leaves, and with it Esc and then Tab does. */
export function tabKey(indents: boolean): Extension {
  return indents ? keymap.of([indentWithTab]) : [];
}

/** readOnlyAs lets people read, find and copy, but not change. */
export function readOnlyAs(readOnly: boolean): Extension {
  return [EditorState.readOnly.of(readOnly), EditorView.contentAttributes.of(readOnly ? { "aria-readonly": "true" } : {})];
}

/** words is all that depends on the language of the page. */
export function words(t: Say): Extension {
  return phrases(t);
}

/** base is what every code editor begins with. */
export function base(steps: Steps | undefined): Extension {
  return [
    lineNumbers(),
    highlightSpecialChars(),
    drawSelection(),
    EditorState.allowMultipleSelections.of(true),
    highlightActiveLine(),
    highlightSelectionMatches(),
    bracketMatching(),
    indentUnit.of("  "),
    EditorState.tabSize.of(4),
    // What can be edited takes the focus anyway; tools that check for it look for the attribute.
    EditorView.contentAttributes.of({ tabindex: "0" }),
    search({ top: true }),
    typedOver,
    steps ? stepKeys(steps) : [],
    keymap.of([
      { key: "Escape", run: closeCompletion },
      ...completionKeymap,
      ...searchKeymap,
      { key: "F8", run: nextDiagnostic, shift: previousDiagnostic, preventDefault: true },
      ...defaultKeymap,
    ]),
    theme,
  ];
}

/** splicesOf are the changes of an editor, in its own offsets before them. */
export function splicesOf(changes: ChangeSet): Splice[] {
  const out: Splice[] = [];
  changes.iterChanges((from, to, _, __, inserted) => out.push({ from, to, insert: inserted.toString() }));
  return out;
}
