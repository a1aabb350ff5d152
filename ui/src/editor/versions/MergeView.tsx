import { Button, Radio } from "@mantine/core";
import { useMemo, useState } from "react";
import { flowText } from "../../domain/document/format";
import { type Choices, type Conflict, merge } from "../../domain/document/merge";
import { type Good, read } from "../../domain/document/read";
import type { Value } from "../../domain/document/tree";
import { useSay } from "../../i18n";
import { Ago } from "../../parts/Times";
import { useDocument } from "../context";
import { useSaved, useSaving } from "./context";
import type { Foreign, Wish } from "./saving";

/** MergeView brings together what two people have saved. Nothing is thrown away by a key: every way out is a named button. */
export function MergeView() {
  const phase = useSaved((s) => s.phase);
  return phase.kind === "conflict" ? <Merging foreign={phase.foreign} wish={phase.wish} /> : null;
}

interface Props {
  foreign: Foreign;
  wish: Wish;
}

function Merging({ foreign, wish }: Props) {
  const { t } = useSay();
  const saving = useSaving();
  return (
    <section className="merge" aria-label={t("editor.mergeTitle")}>
      <h2>{t(foreign.kind === "version" ? "editor.mergeVersion" : "editor.mergeDraft", { version: foreign.version, name: foreign.by })}</h2>
      <p className="faint">
        <Ago at={foreign.at} /> · {t("editor.mergeHint")}
      </p>
      <Choice foreign={foreign} wish={wish} />
      <Button variant="default" onClick={() => saving.settle()}>
        {t("editor.mergeBack")}
      </Button>
    </section>
  );
}

function Choice({ foreign, wish }: Props) {
  const doc = useDocument();
  const saving = useSaving();
  const [mine] = useState(() => doc.current());
  const base = useMemo(() => read(saving.state.base), [saving]);
  const theirs = useMemo(() => read(foreign.text), [foreign]);
  if (mine.good && theirs.good && base.good) return <ByTask base={base} mine={mine} theirs={theirs} wish={wish} />;
  return <Whole mine={mine.text} theirs={foreign.text} wish={wish} />;
}

/** go ends the merge with a text, and saves it where that is wanted. */
function useGo(wish: Wish) {
  const saving = useSaving();
  return async (text: string, save: boolean) => {
    saving.merged(text);
    if (save) await saving.save(wish);
  };
}

function ByTask({ base, mine, theirs, wish }: { base: Good; mine: Good; theirs: Good; wish: Wish }) {
  const { t } = useSay();
  const go = useGo(wish);
  const [choices, setChoices] = useState<Choices>({});
  const merged = useMemo(() => merge({ base, mine, theirs }, choices), [base, mine, theirs, choices]);
  const left = merged.open;
  return (
    <>
      <p>
        {merged.conflicts.length === 0
          ? t("editor.mergeClean", { count: merged.changed.length })
          : t("editor.mergeConflicts", { count: merged.conflicts.length })}
      </p>
      {merged.changed.length > 0 && <p className="faint">{t("editor.mergeMine", { names: merged.changed.join(", ") })}</p>}
      <ul className="conflicts">
        {merged.conflicts.map((c) => (
          <ConflictRow
            key={c.id}
            conflict={c}
            choice={choices[c.id]}
            onChoose={(side) => setChoices((all) => ({ ...all, [c.id]: side }))}
          />
        ))}
      </ul>
      <div className="dialog-end">
        <Button variant="default" disabled={left > 0} onClick={() => void go(merged.text, false)}>
          {t("editor.mergeOnly")}
        </Button>
        <Button
          disabled={left > 0}
          title={left > 0 ? t("editor.mergeOpen", { count: left }) : undefined}
          onClick={() => void go(merged.text, true)}
        >
          {t("editor.mergeSave")}
        </Button>
      </div>
    </>
  );
}

interface RowProps {
  conflict: Conflict;
  choice: "mine" | "theirs" | undefined;
  onChoose: (side: "mine" | "theirs") => void;
}

function ConflictRow({ conflict: c, choice, onChoose }: RowProps) {
  const { t } = useSay();
  const what = [c.task ?? t("editor.workflow"), c.field].filter(Boolean).join(" · ");
  return (
    <li>
      <Radio.Group label={what} value={choice ?? null} onChange={(v) => onChoose(v === "mine" ? "mine" : "theirs")}>
        <div className="sides">
          <Radio value="mine" label={<Side name={t("editor.mine")} value={c.mine} />} />
          <Radio value="theirs" label={<Side name={t("editor.theirs")} value={c.theirs} />} />
          <Side name={t("editor.before")} value={c.base} />
        </div>
      </Radio.Group>
    </li>
  );
}

function Side({ name, value }: { name: string; value: Value | undefined }) {
  const { t } = useSay();
  return (
    <span className="side">
      <span className="faint">{name}</span>
      {value === undefined ? <em>{t("editor.notThere")}</em> : <code>{typeof value === "string" ? value : flowText(value, false)}</code>}
    </span>
  );
}

/** Whole is for texts that do not parse: one of them is taken, and undo brings the other back. */
function Whole({ mine, theirs, wish }: { mine: string; theirs: string; wish: Wish }) {
  const { t } = useSay();
  const go = useGo(wish);
  return (
    <>
      <p>{t("editor.mergeBroken")}</p>
      <div className="sides whole-texts">
        {[
          { name: t("editor.mine"), text: mine },
          { name: t("editor.theirs"), text: theirs },
        ].map(({ name, text }) => (
          <div key={name}>
            <h3>{name}</h3>
            <pre tabIndex={0} role="region" aria-label={name}>
              {text}
            </pre>
            <Button variant="default" onClick={() => void go(text, false)}>
              {t("editor.takeThis", { name })}
            </Button>
          </div>
        ))}
      </div>
    </>
  );
}
