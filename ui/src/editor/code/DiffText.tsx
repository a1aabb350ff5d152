import { yaml } from "@codemirror/lang-yaml";
import { MergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import { useSay } from "../../i18n";
import { base, readOnlyAs, shadowOf, words } from "./base";
import { diffTheme } from "./diffTheme";

interface Props {
  before: string;
  after: string;
  label: string;
}

/** DiffText shows two texts side by side, with what is alike folded away. */
export default function DiffText({ before, after, label }: Props) {
  const { t } = useSay();
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!host.current) return;
    const root = shadowOf(host.current);
    const all = (name: string) => [
      base(undefined),
      yaml(),
      words(t),
      readOnlyAs(true),
      EditorState.readOnly.of(true),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": name }),
      diffTheme,
    ];
    const view = new MergeView({
      parent: root,
      root,
      a: { doc: before, extensions: all(`${label}: ${t("versions.before")}`) },
      b: { doc: after, extensions: all(`${label}: ${t("versions.after")}`) },
      collapseUnchanged: { margin: 3, minSize: 6 },
      // A text of many thousand lines that differ everywhere must not hold up the page.
      diffConfig: { scanLimit: 5000, timeout: 500 },
    });
    return () => view.destroy();
  }, [before, after, label, t]);
  return <div ref={host} className="diff-text" />;
}
