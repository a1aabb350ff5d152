import type { Fire, Schedule } from "../api/schedules";
import { duration } from "../domain/format";
import { late } from "../domain/schedule/days";
import { type Say, useSay, word } from "../i18n";
import { en } from "../i18n/en";
import { StateWord } from "../parts/StateIcon";

type Reason = Extract<keyof typeof en, `ledger.why.${string}`>;

/** whenWords says when a schedule fires, in the reader's language. */
export function whenWords(t: Say, locale: string, s: Pick<Schedule, "words" | "cron" | "at" | "after" | "webhook">): string {
  if (s.after) {
    const states = (s.after.states ?? ["success"]).map((state) => word(t, "state", state)).join(t("schedules.or"));
    return t("schedules.afterEnd", { workflow: s.after.workflow, states });
  }
  if (s.webhook) return t("schedules.byCall");
  if (s.at && s.at.length > 0) return t("schedules.moments", { count: s.at.length, first: s.at[0] ?? "" });
  return (locale === "zh-CN" ? s.words?.["zh-CN"] : s.words?.en) ?? s.cron ?? "";
}

/** outcomeOf is the state by which a fire is shown: one that fired too late is late. */
export function outcomeOf(f: Pick<Fire, "state" | "late_ms">): string {
  return f.state === "fired" && (f.late_ms ?? 0) > late ? "late" : f.state;
}

/** reasonWords says the rule that a fire was left out by. */
export function reasonWords(t: Say, reason: string): string {
  const key = `ledger.why.${reason}`;
  return key in en ? t(key as Reason) : reason; // checked one word before
}

/** Outcome is what became of a fire: colour, shape, word, and how late it was. */
export function Outcome({ fire }: { fire: Fire }) {
  const { t } = useSay();
  const state = outcomeOf(fire);
  return (
    <span className="outcome">
      <StateWord state={state} size={14} />
      {state === "late" && <span className="faint num">{t("schedules.lateBy", { late: duration(fire.late_ms ?? 0) })}</span>}
    </span>
  );
}
