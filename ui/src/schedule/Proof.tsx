import { useQuery } from "@tanstack/react-query";
import { proofQuery, type ScheduleAt } from "../api/schedules";
import { duration, millis, moment } from "../domain/format";
import { inOrder } from "../domain/schedule/days";
import { useSay } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { useSettings } from "../settings";

const kinds = [
  { field: "missing", words: "ledger.missing" },
  { field: "unexpected", words: "ledger.unexpected" },
  { field: "no_instance", words: "ledger.noInstance" },
  { field: "no_fire", words: "ledger.noFire" },
] as const;

const verdicts = {
  holds: { state: "success", words: "ledger.holds" },
  fails: { state: "failed", words: "ledger.holdsNot" },
  unproven: { state: "paused", words: "ledger.unproven" },
} as const;

/** Proof is the sum of a stretch: what was planned is what became of it, and what is still open. */
export function Proof({ at, from, to }: { at: ScheduleAt; from: string; to: string }) {
  const { t } = useSay();
  const { zone } = useSettings();
  const proof = useQuery(proofQuery(at, from, to));
  if (proof.isError) return <ErrorView error={proof.error} retry={() => void proof.refetch()} />;
  const p = proof.data;
  if (!p) return <p className="proof faint">{t("common.loading")}</p>;
  const done = inOrder(p.outcomes).filter(([state]) => state !== "planned" && state !== "waiting");
  const wrong = kinds.filter(({ field }) => p[field].length > 0);
  return (
    <div className="proof">
      <p className="proof-line num">
        <strong>{t("ledger.proof")}</strong>
        <span className="state-word">
          <StateIcon state={verdicts[p.verdict].state} size={14} /> {t(verdicts[p.verdict].words)}
        </span>
        <span>
          {t("ledger.planned")} {p.planned} =
        </span>
        {done.map(([state, n]) => (
          <span key={state} className="proof-part">
            {n} <StateWord state={state} size={14} />
          </span>
        ))}
        <span>
          {done.length > 0 ? "+ " : ""}
          {p.open} {t("ledger.open")}
        </span>
        {(p.outcomes.fired ?? 0) > 0 && <span className="faint">{t("ledger.meanLate", { late: duration(p.mean_late_ms) })}</span>}
        {p.retired > 0 && <span className="faint">{t("ledger.retired", { count: p.retired })}</span>}
      </p>
      <p className="faint">
        {p.compared && !p.why
          ? t("ledger.compared")
          : t("ledger.notCompared", { why: p.why_code ? t(`ledger.proof.${p.why_code}`) : (p.why ?? "") })}
      </p>
      {wrong.map(({ field, words }) => (
        <p key={field} className="proof-wrong">
          {t(words, { count: p[field].length })}{" "}
          {p[field]
            .slice(0, 5)
            .map((m) => moment(millis(m) ?? 0, zone))
            .join("; ")}
          {p[field].length > 5 && " …"}
        </p>
      ))}
      {p.wrong_days.map((d) => (
        <p key={d.day} className="proof-wrong">
          {t("ledger.wrongDay", { day: d.day, counted: d.counted, planned: d.planned })}
        </p>
      ))}
    </div>
  );
}
