import type { PlannedFire } from "../api/schedules";
import type { components } from "../api/schema";
import { duration, millis } from "../domain/format";
import { weekday } from "../domain/schedule/days";
import type { overlaps } from "../domain/schedule/draft";
import { clockOf, mineOf } from "../domain/schedule/fire";
import type { Kind } from "../domain/schedule/when";
import { weekdayWord } from "../domain/spoken";
import { useSay } from "../i18n";
import { SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { useSettings } from "../settings";
import { CallAddress } from "./CallAddress";
import { Meeting } from "./Meeting";

interface Props {
  preview: components["schemas"]["SchedulePreview"] | undefined;
  pending: boolean;
  failed: boolean;
  kind: Kind;
  id: string | undefined; // of a schedule that is there already
  secret: string; // that signs its calls
  overlap: (typeof overlaps)[number];
}

/** NextFires is what the server makes of a schedule: in words, and as its next fires. */
export function NextFires({ preview, pending, failed, kind, id, secret, overlap }: Props) {
  const { t, locale } = useSay();
  const words = locale === "zh-CN" ? preview?.words?.["zh-CN"] : preview?.words?.en;
  return (
    <>
      <h2>
        {t("schedules.nextFires")}
        {pending && <span className="more faint">{t("schedules.checking")}</span>}
      </h2>
      {failed ? (
        <p className="faint">{t("schedules.mendFirst")}</p>
      ) : !preview ? (
        <SkeletonRows rows={3} />
      ) : kind === "after" ? (
        <p className="faint">{t("schedules.afterFires")}</p>
      ) : kind === "webhook" ? (
        <>
          <p className="faint">{t("schedules.callFires")}</p>
          {id && <CallAddress id={id} secret={secret} />}
        </>
      ) : (
        <>
          {words && <p className="schedule-words">{words}</p>}
          <p className="faint">{t("schedules.inZone", { zone: preview.timezone })}</p>
          <Meeting of={preview} overlap={overlap} />
          <FireLines fires={preview.next} />
        </>
      )}
    </>
  );
}

/** Shown is a fire, or a moment of an expression alone: that has no jitter, and no calendar leaves it out. */
type Shown = Omit<PlannedFire, "due"> & { due?: string };

/** FireLines lists fires to come: by the schedule's clock with its offset, by the reader's, and what the clocks do to them. */
export function FireLines({ fires }: { fires: Shown[] }) {
  const { t } = useSay();
  if (fires.length === 0) return <p className="faint">{t("schedules.noFires")}</p>;
  return (
    <ol className="next-fires">
      {fires.map((f) => (
        <Line key={f.at} f={f} />
      ))}
    </ol>
  );
}

function Line({ f }: { f: Shown }) {
  const { t, locale } = useSay();
  const { zone } = useSettings();
  const there = clockOf(f.local);
  const { date, time, offset } = there;
  const day = weekdayWord(weekday(date), locale);
  const at = millis(f.at) ?? 0;
  const jitter = (millis(f.due) ?? at) - at;
  const mine = mineOf(there, at, zone);
  const note = f.skip
    ? t("schedules.leftOut")
    : f.mark === "gap"
      ? t("schedules.gap", { time: f.left_out ?? "" })
      : f.mark === "repeated"
        ? t("schedules.repeated")
        : undefined;
  return (
    <li className={f.skip ? "num left-out" : "num"}>
      <span>
        {day} {date} <strong>{time}</strong> <span className="faint">{offset}</span>
        {jitter > 0 && <span className="faint"> +{duration(jitter)}</span>}
      </span>
      {mine !== undefined && <span className="fire-mine faint">{t("schedules.yours", { time: mine })}</span>}
      {note && (
        <span className="fire-note">
          <StateIcon state={f.skip ? "skipped" : "late"} size={14} /> {note}
        </span>
      )}
    </li>
  );
}
