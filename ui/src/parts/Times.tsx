import { duration, millis, moment, shortMoment } from "../domain/format";
import { relative } from "../domain/spoken";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { useSettings } from "../settings";

/** Moment is a time of day, in full on hover. */
export function Moment({ at }: { at: string | undefined }) {
  const { zone } = useSettings();
  const now = useNow(false);
  const ms = millis(at);
  if (ms === undefined) return <span className="faint">–</span>;
  return (
    <time dateTime={at} title={moment(ms, zone)}>
      {shortMoment(ms, now, zone)}
    </time>
  );
}

/** Ago is how long since, in full on hover; it goes on by itself. */
export function Ago({ at }: { at: string | undefined }) {
  return <Off at={at} bound={Math.min} />;
}

/** Due is how far off a moment to come is, in full on hover; it goes on by itself. */
export function Due({ at }: { at: string | undefined }) {
  return <Off at={at} bound={Math.max} />;
}

/** Off is how far a moment is from now; bound keeps it on its side of now, whatever the clocks say. */
function Off({ at, bound }: { at: string | undefined; bound: (ms: number, now: number) => number }) {
  const { zone } = useSettings();
  const { locale } = useSay();
  const now = useNow();
  const ms = millis(at);
  if (ms === undefined) return <span className="faint">–</span>;
  return (
    <time dateTime={at} title={moment(ms, zone)}>
      {relative(bound(ms, now), now, locale)}
    </time>
  );
}

/** Took is a duration, which ticks while there is no end. */
export function Took({ from, to, live = false }: { from: string | undefined; to: string | undefined; live?: boolean }) {
  const start = millis(from);
  const end = millis(to);
  const ticking = live && start !== undefined && end === undefined;
  const now = useNow(ticking);
  if (start === undefined || (end === undefined && !ticking)) return <span className="faint">–</span>;
  return <span className="num">{duration(Math.max(0, (end ?? now) - start))}</span>;
}
