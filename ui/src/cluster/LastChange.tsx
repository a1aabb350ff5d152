import type { Pulse } from "../api/cluster";
import { agreementOf } from "../domain/cluster/slots";
import { clockTime, duration, millis } from "../domain/format";
import { useSay } from "../i18n";
import { Ago } from "../parts/Times";
import { useSettings } from "../settings";
import { causeWords } from "./causeWords";
import { TakenOver } from "./Masters";

/** LastChange is how the layout in force came about: why, how long each step took, who answered last, what moved. */
export function LastChange({ pulse }: { pulse: Pulse }) {
  const { t } = useSay();
  const { zone } = useSettings();
  const last = pulse.slots.last;
  if (!last) return null;
  const took = agreementOf(last.started_at, last.committed_at, last.steps);
  return (
    <section className="last-change" aria-label={t("cluster.last")}>
      <h2>
        {t("cluster.last")}{" "}
        <span className="num">{t("cluster.lastEpoch", { before: last.epoch - 1 - last.restarts, epoch: last.epoch })}</span>{" "}
        <span className="faint">
          <Ago at={last.committed_at} />
        </span>
      </h2>
      {last.cause !== "" && <p>{t("cluster.cause", { cause: causeWords(t, last.cause) })}</p>}
      <ol className="change-steps num">
        {took && (
          <>
            <li>{t("cluster.proposed", { time: duration(took.proposed) })}</li>
            <li>
              {t("cluster.confirmed", { time: duration(took.confirmed) })}
              {took.slowest && <span className="faint"> ({t("cluster.slowest", { master: took.slowest })})</span>}
            </li>
            <li>{t("cluster.committed", { time: duration(took.committed) })}</li>
          </>
        )}
        <li>
          {t("cluster.moved", { count: last.moved })}
          {last.restarts > 0 && <span className="faint"> ({t("cluster.tries", { count: last.restarts })})</span>}
        </li>
      </ol>
      <TakenOver pulse={pulse} />
      <details>
        <summary>{t("cluster.steps")}</summary>
        <ul className="step-list num">
          {last.steps.map((s) => (
            <li key={`${s.epoch} ${s.name} ${s.master ?? ""} ${s.at}`}>
              <span className="faint mono">{clockTime(millis(s.at) ?? 0, zone, true)}</span>
              <span>{s.epoch}</span>
              <span>{t(`cluster.step.${s.name}`)}</span>
              <span>{s.master}</span>
              <span className="faint">{causeWords(t, s.note ?? "")}</span>
            </li>
          ))}
        </ul>
      </details>
    </section>
  );
}
