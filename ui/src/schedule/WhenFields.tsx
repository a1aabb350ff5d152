import { NumberInput, Select, Textarea, TextInput } from "@mantine/core";
import { useId } from "react";
import { byClock, byCron, ends, kinds, shownCron, units, type Weekday, type When, weekdays, withCron } from "../domain/schedule/when";
import { type Sentence, useSay, word } from "../i18n";
import { everyZone } from "../shell/Preferences";
import type { FieldProps } from "./fieldProps";

const dayWords: Record<Weekday, Sentence> = {
  MON: "schedules.mon",
  TUE: "schedules.tue",
  WED: "schedules.wed",
  THU: "schedules.thu",
  FRI: "schedules.fri",
  SAT: "schedules.sat",
  SUN: "schedules.sun",
};

/** WhenFields say when a schedule fires: by the kind that is chosen, in words. */
export function WhenFields({ draft, set, wrong, column }: FieldProps & { column: number | undefined }) {
  const { t } = useSay();
  const { when } = draft;
  const put = (part: Partial<When>) => set({ when: { ...when, ...part } });
  const choose = (v: string | null) => {
    const kind = kinds.find((k) => k === v);
    if (!kind) return;
    // From words to the expression one goes with what the words have said.
    put({ ...(kind === "cron" && byCron(when) && shownCron(when)), kind });
  };
  const time = (
    <TextInput type="time" label={t("schedules.time")} value={when.time} onChange={(e) => put({ time: e.currentTarget.value })} required />
  );
  return (
    <fieldset className="schedule-part">
      <legend>{t("schedules.sectionWhen")}</legend>
      <Select
        label={t("schedules.kind")}
        data={kinds.map((k) => ({ value: k, label: t(`schedules.kind.${k}`) }))}
        value={when.kind}
        onChange={choose}
      />
      {when.kind === "every" && (
        <div className="field-pair">
          <NumberInput
            size="xs"
            label={t("schedules.n")}
            min={1}
            max={100_000}
            allowDecimal={false}
            value={when.n}
            onChange={(n) => put({ n: Math.max(1, Number(n) || 1) })}
            hideControls
          />
          <Select
            label={t("schedules.unit")}
            data={units.map((u) => ({ value: u, label: t(`schedules.unit.${u}`) }))}
            value={when.unit}
            onChange={(v) => put({ unit: units.find((u) => u === v) ?? "minute" })}
          />
        </div>
      )}
      {when.kind === "daily" && <div className="field-pair">{time}</div>}
      {when.kind === "weekly" && (
        <>
          <Days days={when.days} onChange={(days) => put({ days })} />
          <div className="field-pair">{time}</div>
        </>
      )}
      {when.kind === "monthly" && (
        <div className="field-pair">
          <Select
            label={t("schedules.dayOfMonth")}
            data={[
              ...Array.from({ length: 31 }, (_, i) => ({ value: String(i + 1), label: String(i + 1) })),
              { value: "0", label: t("schedules.lastDay") },
            ]}
            value={String(when.day)}
            onChange={(v) => put({ day: Number(v ?? 1) })}
          />
          {time}
        </div>
      )}
      {byCron(when) && <CronField when={when} put={put} column={column} error={wrong("cron")} />}
      {when.kind === "at" && (
        <Textarea
          label={t("schedules.at")}
          placeholder={"2026-12-31 05:00"}
          autosize={false}
          rows={4}
          value={when.at}
          onChange={(e) => put({ at: e.currentTarget.value })}
          error={wrong("at")}
        />
      )}
      {when.kind === "after" && (
        <>
          <TextInput
            label={t("schedules.after")}
            description={t("schedules.afterHint")}
            value={when.after}
            onChange={(e) => put({ after: e.currentTarget.value })}
            error={wrong("after")}
            autoComplete="off"
          />
          <Choices
            label={t("schedules.states")}
            all={ends.map((e) => ({ value: e, label: word(t, "state", e) }))}
            chosen={when.states}
            onChange={(states) => put({ states })}
          />
        </>
      )}
      {when.kind === "webhook" && (
        <>
          <TextInput
            label={t("schedules.secret")}
            description={t("schedules.secretHint")}
            value={when.secret}
            onChange={(e) => put({ secret: e.currentTarget.value })}
            error={wrong("webhook.secret")}
            autoComplete="off"
            required
          />
          <Textarea
            label={t("schedules.given")}
            description={t("schedules.givenHint")}
            placeholder="day: release.day"
            autosize={false}
            rows={3}
            value={when.given}
            onChange={(e) => put({ given: e.currentTarget.value })}
            error={wrong("webhook.params")}
          />
        </>
      )}
      {!byClock(when) && wrong("cron") && (
        <p className="form-error" role="alert">
          {wrong("cron")}
        </p>
      )}
      <Select
        label={t("schedules.timezone")}
        data={everyZone().includes(draft.timezone) ? everyZone() : [draft.timezone, ...everyZone()]}
        value={draft.timezone}
        onChange={(v) => set({ timezone: v ?? "UTC" })}
        error={wrong("timezone")}
        searchable
        limit={60}
      />
      {byClock(when) && (
        <div className="field-pair">
          <TextInput
            label={t("schedules.start")}
            placeholder={t("schedules.rangeHint")}
            value={draft.start}
            onChange={(e) => set({ start: e.currentTarget.value })}
            error={wrong("start")}
            autoComplete="off"
          />
          <TextInput
            label={t("schedules.end")}
            placeholder={t("schedules.rangeHint")}
            value={draft.end}
            onChange={(e) => set({ end: e.currentTarget.value })}
            error={wrong("end")}
            autoComplete="off"
          />
        </div>
      )}
    </fieldset>
  );
}

interface CronProps {
  when: When;
  put: (part: Partial<When>) => void;
  column: number | undefined; // where its mistake is, from 1
  error: string | undefined;
}

/** CronField is the expression of the words above it, or one that was typed, in which it marks what is wrong. */
function CronField({ when, put, column, error }: CronProps) {
  const { t } = useSay();
  const note = useId();
  const { cron, dialect } = shownCron(when);
  // The server counts bytes; an expression that can be right has none but letters of one.
  const from = column === undefined ? 0 : column - 1;
  const until = cron.slice(from).search(/\s/);
  const to = until < 1 ? cron.length : from + until;
  return (
    <>
      <div className="field-pair cron">
        <TextInput
          label={t("schedules.cron")}
          description={t("schedules.cronHint")}
          // Below it, so that the two fields stand in one line however long it is.
          inputWrapperOrder={["label", "input", "description", "error"]}
          value={cron}
          onChange={(e) => put(withCron(when, e.currentTarget.value))}
          // What is pasted may have a blank too many; while it is typed one may be on its way to another field.
          onBlur={() => cron !== cron.trim() && put(withCron(when, cron.trim()))}
          error={error}
          spellCheck={false}
          autoComplete="off"
          maxLength={1024}
          aria-describedby={column === undefined ? undefined : note}
          classNames={{ input: "mono" }}
        />
        <Select
          label={t("schedules.dialect")}
          data={[
            { value: "", label: t("schedules.dialectAuto") },
            { value: "unix", label: "Unix" },
            { value: "quartz", label: "Quartz" },
          ]}
          value={dialect}
          onChange={(v) => put(withCron(when, cron, v === "unix" || v === "quartz" ? v : ""))}
        />
      </div>
      {column !== undefined && (
        <p className="cron-mistake" id={note}>
          <code aria-hidden="true">
            {cron.slice(0, from)}
            <mark>{cron.slice(from, to) || " "}</mark>
            {cron.slice(to)}
          </code>
          <span className="unseen">{t("schedules.wrongAt", { column })}</span>
        </p>
      )}
    </>
  );
}

function Days({ days, onChange }: { days: Weekday[]; onChange: (days: Weekday[]) => void }) {
  const { t } = useSay();
  return (
    <Choices
      label={t("schedules.days")}
      all={weekdays.map((d) => ({ value: d, label: t(dayWords[d]) }))}
      chosen={days}
      onChange={onChange}
    />
  );
}

interface ChoicesProps<T extends string> {
  label: string;
  all: { value: T; label: string }[];
  chosen: T[];
  onChange: (chosen: T[]) => void;
}

/** Choices is a row of words of which any may be chosen, one at least. */
function Choices<T extends string>({ label, all, chosen, onChange }: ChoicesProps<T>) {
  const toggle = (value: T) => {
    const next = chosen.includes(value) ? chosen.filter((x) => x !== value) : [...chosen, value];
    if (next.length > 0) onChange(next);
  };
  return (
    <div className="choices" role="group" aria-label={label}>
      <span className="choices-label">{label}</span>
      <div className="counts">
        {all.map((x) => (
          <button key={x.value} type="button" aria-pressed={chosen.includes(x.value)} onClick={() => toggle(x.value)}>
            {x.label}
          </button>
        ))}
      </div>
    </div>
  );
}
