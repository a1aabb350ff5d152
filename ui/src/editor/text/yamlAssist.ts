// Completion and explanations in the text view, from the schemas of the forms.

import { autocompletion, type Completion, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import type { Extension, Text } from "@codemirror/state";
import { type EditorView, hoverTooltip, type Tooltip } from "@codemirror/view";
import { scalarText } from "../../domain/document/format";
import { textsOf } from "../../domain/document/shape";
import type { Say } from "../../i18n";
import { optionsAt, placeIn, type SchemaForms, schemaAt, type YamlPlace } from "./yamlComplete";

/** Knowledge is what completion asks for when it is wanted: it changes while an editor is open. */
export interface Knowledge {
  readonly forms: () => SchemaForms | undefined;
  readonly tasks: () => readonly string[];
}

// The type of a task stands near: more lines below are not looked at.
const linesBelow = 40;

function placeAt(doc: Text, pos: number): YamlPlace | undefined {
  const line = doc.lineAt(pos);
  // Nothing is known of comments, and a file may be full of them.
  if (/^\s*#/.test(line.text)) return undefined;
  const above: string[] = [];
  for (const text of doc.iterLines(1, line.number + 1)) above.push(text);
  const below: string[] = [];
  const last = Math.min(doc.lines, line.number + linesBelow);
  if (line.number < last) for (const text of doc.iterLines(line.number + 1, last + 1)) below.push(text);
  return placeIn(above, pos - line.from, below);
}

function complete(known: Knowledge, t: Say) {
  return (context: CompletionContext): CompletionResult | null => {
    const forms = known.forms();
    const { state, pos, explicit } = context;
    const line = state.doc.lineAt(pos);
    const word = /[\w.$-]*$/.exec(line.text.slice(0, pos - line.from))?.[0] ?? "";
    if (!forms || (word === "" && !explicit && !/[:[,-] $/.test(line.text.slice(0, pos - line.from)))) return null;
    const place = placeAt(state.doc, pos);
    if (!place) return null;
    const flow = line.text.slice(0, pos - line.from).includes("[");
    const options = optionsAt(forms, place, known.tasks()).map((o): Completion => {
      const apply = o.apply ?? scalarText(o.label, { flow, json: false });
      const rest = line.text.slice(pos - line.from);
      return {
        label: o.label,
        apply: o.apply && /^\s*:/.test(rest) ? o.label : apply,
        ...(o.about !== "" && o.about !== "=" && { info: o.about }),
        ...(o.required && { detail: t("text.required"), boost: 1 }),
        ...(o.about === "=" && { detail: t("text.standard") }),
      };
    });
    return options.length === 0 ? null : { from: line.from + place.from, options, validFor: /^[\w.-]*$/ };
  };
}

function explain(known: Knowledge, t: Say) {
  return (view: EditorView, pos: number): Tooltip | null => {
    const forms = known.forms();
    const line = view.state.doc.lineAt(pos);
    const found = /^(\s*(?:- +)?)(["']?)([\w.-]+)\2\s*:/.exec(line.text);
    const [, lead = "", , key = ""] = found ?? [];
    const at = pos - line.from;
    if (!forms || !found || at < lead.length || at > lead.length + key.length) return null;
    const place = placeAt(view.state.doc, line.from + lead.length);
    const schema = place && schemaAt(forms, { ...place, path: [...place.path, key] });
    if (typeof schema?.description !== "string") return null;
    const words = textsOf(schema.enum);
    const lines = [schema.description];
    if (words.length > 0) lines.push(t("text.values", { values: words.join(", ") }));
    if (schema.default !== undefined) lines.push(t("text.default", { value: String(schema.default) }));
    return { pos: line.from + lead.length, end: line.from + lead.length + key.length, create: () => ({ dom: box(key, lines) }) };
  };
}

function box(key: string, lines: readonly string[]): HTMLElement {
  const dom = document.createElement("div");
  dom.className = "cm-hover";
  const name = document.createElement("strong");
  name.textContent = key;
  dom.append(name);
  for (const text of lines) {
    const p = document.createElement("div");
    p.textContent = text;
    dom.append(p);
  }
  return dom;
}

/** yamlAssist completes and explains the keys of a workflow. */
export function yamlAssist(known: Knowledge, t: Say): Extension {
  return [autocompletion({ override: [complete(known, t)], icons: false }), hoverTooltip(explain(known, t))];
}
