import type { Timer } from "../api/timers";
import { millis } from "../domain/format";
import { relative } from "../domain/spoken";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { StateIcon } from "../parts/StateIcon";

/** Standing says whether a timer is on, and since when its calls fail. */
export function Standing({ timer }: { timer: Timer }) {
  const { t, locale } = useSay();
  const now = useNow(false);
  const since = millis(timer.failingSince);
  return (
    <span className="standing">
      {timer.enabled ? t("timers.on") : <span className="faint">{t("timers.off")}</span>}
      {!timer.enabled && timer.why && (
        <span className="timer-why text-failed">
          <StateIcon state="failed" size={14} /> {t("timers.broke", { why: timer.why })}
        </span>
      )}
      {timer.failures > 0 && (
        <span className="state-word text-failed">
          <StateIcon state="failed" size={14} /> {t("timers.failing", { count: timer.failures })}
          {since !== undefined && ` ${t("timers.since", { when: relative(since, now, locale) })}`}
        </span>
      )}
    </span>
  );
}
