import { ChevronDown, ChevronRight } from "lucide-react";
import { useState } from "react";
import type { Trial, TriedCase } from "../../api/trial";
import { duration } from "../../domain/format";
import { useSay, word } from "../../i18n";
import { StateIcon, StateWord } from "../../parts/StateIcon";

interface Props {
  trial: Trial;
  /** old says that one of the texts has changed since. */
  old: boolean;
  onLine: (line: number) => void;
}

/** Results is what came of the cases, those that failed opened, or what is wrong with the texts. */
export function Results({ trial, old, onLine }: Props) {
  const { t } = useSay();
  const { text_errors: ofText, cases_errors: ofCases, cases, passed, failed, left_out: leftOut } = trial;
  if (ofText.length > 0) {
    return (
      <>
        <p className="trial-sum" role="status">
          <StateIcon state="failed" size={16} /> {t("trial.textWrong")}
        </p>
        <ul className="trial-wrong">
          {ofText.map((e) => (
            <li key={`${e.field} ${e.code}`}>
              {t("text.line", { line: e.line ?? 1 })}: {e.message}
            </li>
          ))}
        </ul>
      </>
    );
  }
  if (ofCases.length > 0) {
    return (
      <>
        <p className="trial-sum" role="status">
          <StateIcon state="failed" size={16} /> {t("trial.casesWrong")}
        </p>
        <ul className="trial-wrong">
          {ofCases.map((e) => (
            <li key={`${e.field} ${e.code}`}>
              <Line line={e.line ?? 1} onLine={onLine} /> <code>{e.field}</code> {e.message}
            </li>
          ))}
        </ul>
      </>
    );
  }
  return (
    <>
      <p className="trial-sum" role="status">
        <StateIcon state={failed > 0 ? "failed" : "success"} size={16} />
        {t("trial.sum", { passed, failed })}
        {leftOut > 0 && <span className="warning">{t("trial.leftOut", { count: leftOut })}</span>}
        {old && <span className="faint">{t("trial.old")}</span>}
      </p>
      <ul className="trial-cases" aria-label={t("trial.results")}>
        {cases.map((c) => (
          <Case key={`${c.line} ${c.name} ${c.passed}`} c={c} onLine={onLine} />
        ))}
      </ul>
    </>
  );
}

function Line({ line, onLine }: { line: number; onLine: (line: number) => void }) {
  const { t } = useSay();
  return (
    <button type="button" className="link" onClick={() => onLine(line)}>
      {t("text.line", { line })}
    </button>
  );
}

function Case({ c, onLine }: { c: TriedCase; onLine: (line: number) => void }) {
  const { t } = useSay();
  const [open, setOpen] = useState(!c.passed);
  const Mark = open ? ChevronDown : ChevronRight;
  return (
    <li data-passed={c.passed}>
      <div className="trial-case">
        <button type="button" className="trial-turn" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Mark size={14} aria-hidden="true" />
          <StateIcon state={c.passed ? "success" : "failed"} size={16} label={t(c.passed ? "trial.passed" : "trial.failed")} />
          <span className="trial-name">{c.name}</span>
        </button>
        <span className="faint num">
          {c.state && word(t, "state", c.state)} {duration(c.took_ms)}
        </span>
        <Line line={c.line} onLine={onLine} />
      </div>
      {open && (
        <div className="trial-more">
          {c.failures.map((f) => (
            <div key={`${f.field} ${f.expected}`} className="trial-failure">
              <div>
                <Line line={f.line ?? c.line} onLine={onLine} /> <code>{f.field}</code>
              </div>
              <dl>
                <dt>{t("trial.expected")}</dt>
                <dd className="mono">{f.expected}</dd>
                <dt>{t("trial.got")}</dt>
                <dd className="mono">{f.got}</dd>
              </dl>
              {f.hint && <p className="faint">{f.hint}</p>}
            </div>
          ))}
          <History c={c} />
        </div>
      )}
    </li>
  );
}

/** maxMoments is how many lines of a case's history stand in the page. */
const maxMoments = 200;

function History({ c }: { c: TriedCase }) {
  const { t } = useSay();
  if (c.history.length === 0) return null;
  return (
    <details>
      <summary>{t("trial.history", { count: c.history.length })}</summary>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("trial.at")}</th>
            <th>{t("run.task")}</th>
            <th>{t("run.state")}</th>
            <th>{t("runs.reason")}</th>
          </tr>
        </thead>
        <tbody>
          {c.history.slice(0, maxMoments).map((m, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a history never changes
            <tr key={i}>
              <td className="num">{duration(m.at_ms)}</td>
              <td>
                {m.task ?? <span className="faint">–</span>} {(m.attempt ?? 0) > 1 && <span className="faint num">#{m.attempt}</span>}
              </td>
              <td>
                <StateWord state={m.state} size={14} />
              </td>
              <td className="faint">
                {m.reason && word(t, "reason", m.reason)} {m.message}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {c.history.length > maxMoments && <p className="faint">{t("why.more", { count: c.history.length - maxMoments })}</p>}
    </details>
  );
}
