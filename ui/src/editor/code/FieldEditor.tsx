import { autocompletion } from "@codemirror/autocomplete";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useContext, useEffect, useRef } from "react";
import { Breaks, normal } from "../../domain/document/breaks";
import { applySplices, breakOf, differ } from "../../domain/document/text";
import { useSay } from "../../i18n";
import { DocumentContext } from "../context";
import { base, outside, Parts, readOnlyAs, shadowOf, splicesOf, words } from "./base";
import { languageOf } from "./languages";
import { completeNames } from "./names";
import type { CodeFieldProps } from "./props";

interface Props extends CodeFieldProps {
  /** Where the caret is put, and the focus with it. */
  readonly begin?: number;
  readonly onCaret?: (offset: number) => void;
}

/** FieldEditor is the editor of a CodeField, without its frame. */
export default function FieldEditor(props: Props) {
  const { t } = useSay();
  const doc = useContext(DocumentContext);
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const parts = useRef(new Parts()).current;
  const labels = attributes(props);

  // biome-ignore lint/correctness/useExhaustiveDependencies: what changes later goes in by the effects below
  useEffect(() => {
    if (!host.current) return;
    const { value, language, readOnly = false, begin } = latest.current;
    const listener = EditorView.updateListener.of((u) => {
      const { value: before, onChange, onCaret } = latest.current;
      onCaret?.(new Breaks(before).toText(u.state.selection.main.head));
      if (!u.docChanged || u.transactions.some((tr) => tr.annotation(outside))) return;
      const after = applySplices(before, new Breaks(before).splices(splicesOf(u.changes), breakOf(before)));
      // The next key may come before the value does.
      latest.current = { ...latest.current, value: after };
      onChange(after);
    });
    const one = new EditorView({
      parent: shadowOf(host.current),
      state: EditorState.create({
        doc: normal(value),
        selection: begin === undefined ? undefined : { anchor: new Breaks(value).toNormal(begin) },
        extensions: [
          base(latest.current.steps ?? (doc && { undo: () => doc.undo(), redo: () => doc.redo() })),
          EditorView.lineWrapping,
          lintGutter(),
          autocompletion({ override: [completeNames(() => latest.current.names ?? [])], icons: false }),
          parts.language.of(languageOf(language)),
          parts.words.of(words(t)),
          parts.readOnly.of(readOnlyAs(readOnly)),
          parts.label.of(EditorView.contentAttributes.of(labels)),
          EditorView.domEventHandlers({ blur: () => void latest.current.onBlur?.() }),
          listener,
        ],
      }),
    });
    view.current = one;
    if (begin !== undefined) {
      one.focus();
      one.dispatch({ effects: EditorView.scrollIntoView(one.state.selection.main, { y: "center" }) });
    }
    return () => one.destroy();
  }, []);

  useEffect(() => {
    const one = view.current;
    if (!one) return;
    const [change] = differ(one.state.doc.toString(), normal(props.value));
    if (change) one.dispatch({ changes: change, annotations: outside.of(true) });
  }, [props.value]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.language.reconfigure(languageOf(props.language)) });
  }, [props.language, parts]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.words.reconfigure(words(t)) });
  }, [t, parts]);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.readOnly.reconfigure(readOnlyAs(props.readOnly ?? false)) });
  }, [props.readOnly, parts]);
  const key = JSON.stringify(labels);
  useEffect(() => {
    view.current?.dispatch({ effects: parts.label.reconfigure(EditorView.contentAttributes.of(JSON.parse(key))) });
  }, [key, parts]);
  useEffect(() => {
    const one = view.current;
    if (!one) return;
    const found = (props.problems ?? []).map((p) => {
      const line = one.state.doc.line(Math.min(Math.max(1, p.line ?? 1), one.state.doc.lines));
      return { from: line.from, to: line.to, severity: p.severity ?? "error", message: p.message } as const;
    });
    one.dispatch(setDiagnostics(one.state, found));
  }, [props.problems]);
  return <div className="code-host" ref={host} />;
}

// An id cannot be pointed at across a shadow root, so that the sentence itself stands here.
function attributes({ label, error, required }: CodeFieldProps): Record<string, string> {
  return {
    "aria-label": error ? `${label}: ${error}` : label,
    ...(error && { "aria-invalid": "true" }),
    ...(required && { "aria-required": "true" }),
  };
}
