import { lintGutter } from "@codemirror/lint";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLineGutter } from "@codemirror/view";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { taskTypesQuery } from "../../api/queries";
import { normal } from "../../domain/document/breaks";
import { type Say, useSay } from "../../i18n";
import { base, Parts, readOnlyAs, shadowOf, tabKey, words } from "../code/base";
import { languageOf } from "../code/languages";
import { useDocument } from "../context";
import { onShow } from "./go";
import { sentenceOf } from "./sentence";
import { Sync } from "./sync";
import { type Knowledge, yamlAssist } from "./yamlAssist";

function speech(t: Say, json: boolean, known: Knowledge | undefined): Extension {
  return [words(t), known && !json ? yamlAssist(known, t) : []];
}

/** YamlText is the text of the document in an editor. */
export default function YamlText({ json, readOnly, tabIndents }: { json: boolean; readOnly: boolean; tabIndents: boolean }) {
  const { t } = useSay();
  const doc = useDocument();
  const host = useRef<HTMLDivElement>(null);
  const knowledge = useRef<Knowledge>(undefined);
  const [parts] = useState(() => new Parts());
  const { data: forms } = useQuery(taskTypesQuery);
  const latest = useRef(forms);
  latest.current = forms;
  const [open, setOpen] = useState<{ view: EditorView; sync: Sync }>();

  // biome-ignore lint/correctness/useExhaustiveDependencies: what changes later goes in by the effects below
  useEffect(() => {
    if (!host.current) return;
    const sync = new Sync(doc, (problem) => sentenceOf(t, problem));
    const { text } = doc.state.history;
    const known: Knowledge = { forms: () => latest.current, tasks: () => doc.state.reading.model.tasks.map((task) => task.name) };
    knowledge.current = known;
    const view = new EditorView({
      parent: shadowOf(host.current),
      state: EditorState.create({
        doc: normal(text),
        extensions: [
          base({ undo: () => doc.undo(), redo: () => doc.redo() }),
          highlightActiveLineGutter(),
          lintGutter(),
          sync.extension,
          parts.language.of(languageOf(json ? "json" : "yaml")),
          parts.words.of(speech(t, json, known)),
          parts.readOnly.of(readOnlyAs(readOnly)),
          parts.tab.of(tabKey(tabIndents)),
          parts.label.of(EditorView.contentAttributes.of({ "aria-label": t("text.label") })),
        ],
      }),
    });
    const end = sync.begin(view);
    const deaf = onShow((range, focus) => sync.show(range, focus));
    setOpen({ view, sync });
    return () => {
      deaf();
      end();
      view.destroy();
    };
  }, [doc]);
  useEffect(() => {
    open?.view.dispatch({
      effects: [
        parts.words.reconfigure(speech(t, json, knowledge.current)),
        parts.language.reconfigure(languageOf(json ? "json" : "yaml")),
        parts.label.reconfigure(EditorView.contentAttributes.of({ "aria-label": t("text.label") })),
      ],
    });
    open?.sync.speak((problem) => sentenceOf(t, problem));
  }, [t, json, open, parts]);
  useEffect(() => {
    open?.view.dispatch({ effects: [parts.readOnly.reconfigure(readOnlyAs(readOnly)), parts.tab.reconfigure(tabKey(tabIndents))] });
  }, [readOnly, tabIndents, open, parts]);
  return <div className="code-host" ref={host} />;
}
