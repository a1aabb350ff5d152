import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type KeyboardEvent, useMemo, useRef } from "react";
import { askedNext, type PlannedFire, type ScheduleAt, spanQuery } from "../api/schedules";
import { dayOf } from "../domain/format";
import { pastOf } from "../domain/schedule/dates";
import { type Counts, daysOf, inOrder, monthAfter, monthsOf, plus, startOf, weekday, withPlanned, worstOf } from "../domain/schedule/days";
import { monthWord, weekdayWord } from "../domain/spoken";
import { type Say, useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { Later } from "../parts/Later";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { type ScheduleSearch, spans } from "../searchSchedule";
import { useWhyNot } from "../shell/me";
import { BackfillButton } from "./BackfillButton";
import { Proof } from "./Proof";
import { RunFires } from "./RunFires";

interface Props {
  at: ScheduleAt;
  zone: string; // the schedule's: its days are those of its clock
  next: PlannedFire[];
  search: ScheduleSearch;
  set: (part: ScheduleSearch, replace?: boolean) => void;
}

/** Shown is what a day of the calendar says. */
interface Shown {
  counts: Counts;
  meanLate: number;
}

/** Ledger is a year or a month of a schedule's fires: each day by its worst outcome. */
export function Ledger({ at, zone, next, search, set }: Props) {
  const { t, locale } = useSay();
  const today = dayOf(useNow(false), zone);
  const span = search.span ?? "year";
  const month = search.month ?? today.slice(0, 7);
  const year = month.slice(0, 4);
  const months = useMemo(() => (span === "year" ? monthsOf(year) : [month]), [span, year, month]);
  const first = `${months[0]}-01`;
  const after = `${monthAfter(months.at(-1) ?? month, 1)}-01`;
  // The bounds are searched for in the timezone's rules: not with each tick of the clock.
  const [from, to] = useMemo(() => [first, after].map((d) => new Date(startOf(d, zone)).toISOString()), [first, after, zone]);
  const days = useQuery(spanQuery(at, span === "year" ? year : month));
  const shown = useMemo(() => {
    const counts = new Map<string, Counts>();
    const late = new Map<string, number>();
    for (const d of days.data?.days ?? []) {
      counts.set(d.day, d.states);
      late.set(d.day, d.mean_late_ms ?? 0);
    }
    const ahead = next.filter((f) => !f.skip).map((f) => f.local.slice(0, 10));
    // Where there are more than were asked for, the last day is not whole: it is not shown as if it were.
    const foretold = next.length < askedNext ? ahead : ahead.filter((day) => day === today || day !== ahead.at(-1));
    const out = new Map<string, Shown>();
    for (const [day, c] of withPlanned(counts, foretold)) out.set(day, { counts: c, meanLate: late.get(day) ?? 0 });
    return out;
  }, [days.data, next, today]);
  const missed = [...shown.values()].some(({ counts }) => (counts.missed ?? 0) + (counts.skipped ?? 0) > 0);
  const why = useWhyNot(at.project)("operator");
  // What is run is of the day that is open, or of all that is shown.
  const of = useMemo(() => search.day && dayBounds(search.day, zone), [search.day, zone]) || undefined;
  const step = (by: number) => set({ month: monthAfter(month, span === "year" ? by * 12 : by) }, true);
  const title = span === "year" ? year : monthOfYear(month, locale);
  return (
    <section className="ledger" aria-labelledby="ledger-title">
      <div className="ledger-head">
        <h2 id="ledger-title">{t("ledger.title")}</h2>
        <SegmentedControl
          aria-label={t("ledger.span")}
          data={[
            { value: "year", label: t("ledger.year") },
            { value: "month", label: t("ledger.month") },
          ]}
          value={span}
          onChange={(v) => set({ span: spans.find((s) => s === v) }, true)}
        />
        <span className="ledger-step">
          <Button variant="default" px={6} aria-label={t("ledger.before")} onClick={() => step(-1)}>
            <ChevronLeft size={16} />
          </Button>
          <strong className="num" aria-live="polite">
            {title}
          </strong>
          <Button variant="default" px={6} aria-label={t("ledger.after")} onClick={() => step(1)}>
            <ChevronRight size={16} />
          </Button>
          <Button variant="default" onClick={() => set({ month: undefined }, true)} disabled={search.month === undefined}>
            {t("ledger.today")}
          </Button>
        </span>
        <span className="faint push">{t("ledger.zone", { zone })}</span>
      </div>
      {days.isError ? (
        <ErrorView error={days.error} retry={() => void days.refetch()} />
      ) : days.isPending ? (
        <SkeletonRows rows={6} />
      ) : (
        <Calendar
          span={span}
          months={months}
          shown={shown}
          today={today}
          open={search.day}
          label={t("ledger.label", { span: title })}
          onDay={(day) => set({ day })}
        />
      )}
      <Later>
        <Legend />
        {from && to && <Proof at={at} from={from} to={to} />}
        <div className="ledger-run">
          {missed && (
            <Guarded variant="default" why={why} onClick={() => set({ run: "missed" })}>
              {t("ledger.runMissed")}
            </Guarded>
          )}
          <BackfillButton at={at} {...pastOf(first, plus(after, -1), today)} />
        </div>
        {from && to && (
          <RunFires at={at} zone={zone} run={search.run} {...(of ?? { from, to })} onClose={() => set({ run: undefined }, true)} />
        )}
      </Later>
    </section>
  );
}

function dayBounds(day: string, zone: string) {
  const [from, to] = [day, plus(day, 1)].map((d) => new Date(startOf(d, zone)).toISOString());
  return from && to ? { from, to } : undefined;
}

function monthOfYear(month: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { month: "long", year: "numeric", timeZone: "UTC" }).format(Date.parse(`${month}-01T00:00:00Z`));
}

interface CalendarProps {
  span: "year" | "month";
  months: string[];
  shown: Map<string, Shown>;
  today: string;
  open: string | undefined;
  label: string;
  onDay: (day: string) => void;
}

const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 };

/** Calendar has one tab stop; arrows walk its days, over the ends of months too. */
function Calendar({ span, months, shown, today, open, label, onDay }: CalendarProps) {
  const { t, locale } = useSay();
  const box = useRef<HTMLDivElement>(null);
  const all = months.flatMap(daysOf);
  const stop = [open, today].find((d) => d !== undefined && all.includes(d)) ?? all[0];
  const walk = (event: KeyboardEvent) => {
    const day = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.day : undefined;
    const by = moves[event.key];
    if (day === undefined || by === undefined) return;
    event.preventDefault();
    box.current?.querySelector<HTMLElement>(`[data-day="${plus(day, by)}"]`)?.focus();
  };
  const names = Array.from({ length: 7 }, (_, i) => weekdayWord(i, locale, span === "year"));
  return (
    <div className={`calendar of-${span}`} role="group" aria-label={label} ref={box} onKeyDown={walk}>
      {months.map((month) => (
        <div key={month} className="calendar-month">
          {span === "year" && <h3>{monthWord(month, locale)}</h3>}
          <div className="calendar-days">
            {names.map((name, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two days may begin with the same letter
              <span key={i} className="calendar-name" aria-hidden="true">
                {name}
              </span>
            ))}
            {daysOf(month).map((day, i) => (
              <Day
                key={day}
                day={day}
                column={i === 0 ? weekday(day) + 1 : undefined}
                at={shown.get(day)}
                span={span}
                today={day === today}
                open={day === open}
                stop={day === stop}
                t={t}
                onDay={onDay}
              />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

interface DayProps {
  day: string;
  column: number | undefined; // of the first of a month
  at: Shown | undefined;
  span: "year" | "month";
  today: boolean;
  open: boolean;
  stop: boolean;
  t: Say;
  onDay: (day: string) => void;
}

function Day({ day, column, at, span, today, open, stop, t, onDay }: DayProps) {
  const worst = at && worstOf(at.counts, at.meanLate);
  const parts = at ? inOrder(at.counts) : [];
  const said = parts.map(([state, n]) => `${n} ${word(t, "state", state)}`).join(", ");
  const label = `${day}: ${said || t("ledger.nothing")}`;
  return (
    <button
      type="button"
      className="calendar-day"
      data-day={day}
      data-worst={worst}
      style={column === undefined ? undefined : { gridColumnStart: column }}
      aria-current={today ? "date" : undefined}
      aria-pressed={open}
      title={label}
      tabIndex={stop ? 0 : -1}
      onClick={() => onDay(day)}
    >
      <span className="unseen">{label}</span>
      {span === "year" ? (
        worst ? (
          <StateIcon state={worst} size={16} />
        ) : (
          <span className="faint num" aria-hidden="true">
            {Number(day.slice(8))}
          </span>
        )
      ) : (
        <>
          <span className="num calendar-number" aria-hidden="true">
            {Number(day.slice(8))}
          </span>
          {parts.map(([state, n]) => (
            <span key={state} className="calendar-count num" aria-hidden="true">
              <StateIcon state={state === "fired" && worst === "late" ? "late" : state} size={14} /> {n}
            </span>
          ))}
        </>
      )}
    </button>
  );
}

const legend = ["fired", "late", "skipped", "missed", "duplicate", "waiting", "planned"];

function Legend() {
  const { t } = useSay();
  return (
    <p className="ledger-legend faint">
      {t("ledger.legend")}
      {legend.map((state) => (
        <StateWord key={state} state={state} size={14} />
      ))}
    </p>
  );
}
