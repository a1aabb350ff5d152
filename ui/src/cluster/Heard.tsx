import { silenceOf } from "../domain/cluster/nodes";
import { duration, millis } from "../domain/format";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { StateIcon } from "../parts/StateIcon";

/** seconds is a short time without its fraction, as one that ticks is read. */
export function seconds(ms: number): string {
  return duration(Math.max(1000, Math.floor(ms / 1000) * 1000)).replace(".0 s", " s");
}

/** Heard is how long a node has said nothing; at half of its limit it counts down to when it is called gone. */
export function Heard({ since, limit, known }: { since: string | undefined; limit: number; known: boolean }) {
  const { t } = useSay();
  const at = millis(since);
  const now = useNow(at !== undefined);
  if (at === undefined && !known) return <span className="faint">{t("cluster.noWord")}</span>;
  const { word, ms, left } = silenceOf(at, now, limit);
  const text = t(`cluster.heard.${word}`, { time: seconds(ms), left: seconds(left) });
  if (word === "heard" || word === "late") return <span className="num">{text}</span>;
  return (
    <span className="state-word text-retry num">
      <StateIcon state="retry_wait" size={14} /> {text}
    </span>
  );
}
