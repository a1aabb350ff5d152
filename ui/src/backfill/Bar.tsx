import type { Backfill } from "../api/backfills";
import { millis, shortMoment } from "../domain/format";
import { lookOf } from "../domain/states";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { useSettings } from "../settings";

const parts = ["success", "failed", "cancelled", "running", "waiting"] as const;

/** Bar is how far a backfill is: its dates by state, and in words. */
export function Bar({ b }: { b: Backfill }) {
  const { t } = useSay();
  const { zone } = useSettings();
  const now = useNow(false);
  const p = b.progress;
  const eta = b.active ? millis(p.eta) : undefined;
  const words = [
    t("backfills.done", { done: p.done, total: p.total }),
    ...(p.running > 0 ? [t("backfills.running", { count: p.running })] : []),
    ...(p.failed > 0 ? [t("backfills.failed", { count: p.failed })] : []),
    ...(eta === undefined ? [] : [t("backfills.eta", { when: shortMoment(eta, now, zone) })]),
  ];
  return (
    <span className="backfill-bar">
      <span className="day-bar" aria-hidden="true">
        {parts.map(
          (state) => p[state] > 0 && <i key={state} className={`hue-${lookOf(state).hue} is-${state}`} style={{ flexGrow: p[state] }} />,
        )}
      </span>
      <span className="num">{words.join(", ")}</span>
    </span>
  );
}
