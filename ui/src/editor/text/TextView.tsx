import "./text.css";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import { useSay } from "../../i18n";
import { piece } from "../../parts/piece";
import { useDoc } from "../context";
import { useMayEdit } from "../versions/SaveBar";

const route = getRouteApi("/p/$project/w/$workflow/edit");

const YamlText = piece(() => import("../code/EditorCode").then((m) => m.YamlText));

const tabKey = "porpoise.editor.tab";

/** TextView is the document's text, as it is saved. */
export function TextView() {
  const { t } = useSay();
  const { may } = useMayEdit(route.useParams().project);
  const readOnly = !may;
  const [indents, setIndents] = useState(() => localStorage.getItem(tabKey) === "indents");
  // A text that is broken has no style: its first sign tells.
  const json = useDoc((s) => /^\s*\{/.test(s.history.text));
  const turn = () => {
    localStorage.setItem(tabKey, indents ? "leaves" : "indents");
    setIndents(!indents);
  };
  return (
    <section className="editor-text" aria-label={t("editor.text")}>
      <Suspense fallback={<Waiting />}>
        <YamlText json={json} readOnly={readOnly} tabIndents={indents} />
      </Suspense>
      <div className="text-foot">
        <Caret />
        <button type="button" className="text-tab" aria-pressed={indents} title={t("text.tabTitle")} onClick={turn}>
          {t(indents ? "text.tabIndents" : "text.tabLeaves")}
        </button>
        {readOnly && <span>{t("text.readOnly")}</span>}
        <span className="push">{json ? "JSON" : "YAML"}</span>
      </div>
    </section>
  );
}

// The text can be read before its editor is there.
function Waiting() {
  const text = useDoc((s) => s.history.text);
  return <pre className="code-waiting">{text.slice(0, 20_000)}</pre>;
}

function Caret() {
  const { t } = useSay();
  const at = useDoc((s) => {
    const { text, selection } = s.history;
    let line = 1;
    let start = 0;
    for (let next = text.indexOf("\n"); next >= 0 && next < selection.head; next = text.indexOf("\n", start)) {
      line++;
      start = next + 1;
    }
    return `${line}:${selection.head - start + 1}`;
  });
  const [line = "1", column = "1"] = at.split(":");
  return <span className="num">{t("text.caret", { line, column })}</span>;
}
