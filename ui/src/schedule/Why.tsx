import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { Explanation } from "../api/client";
import { explainScheduleQuery, type ScheduleAt } from "../api/schedules";
import { millis, moment } from "../domain/format";
import { sentenceOf } from "../domain/problem";
import { scheduleSays } from "../domain/schedule/why";
import { useSay, word } from "../i18n";
import { CopyButton } from "../parts/CopyButton";
import { ErrorView } from "../parts/ErrorView";
import { Ago } from "../parts/Times";
import { reasonWords } from "./words";

interface Props {
  at: ScheduleAt;
  zone: string; // the schedule's: its moments are said by its clock
}

/** ScheduleWhy says why a schedule fires or does not, what a calendar leaves out, and what became of its last fire. */
export function ScheduleWhy({ at, zone }: Props) {
  const { t } = useSay();
  const why = useQuery(explainScheduleQuery(at));
  if (why.isError) return <ErrorView error={why.error} retry={() => void why.refetch()} />;
  // Its place is kept, so that nothing below it moves.
  if (why.isPending) return <p className="schedule-why faint">{t("common.loading")}</p>;
  const bad = scheduleSays(why.data)?.bad ?? true;
  // A last fire that went as planned stands among the facts already.
  const causes = (why.data.causes ?? []).filter((c) => c.code !== "fire_fired" && c.code !== "fire_planned");
  return (
    <section className="schedule-why" aria-label={t("explain.title")} data-code={why.data.code}>
      <p className={bad ? "is-bad" : undefined}>
        <Sentence e={why.data} project={at.project} zone={zone} />
      </p>
      {causes.length > 0 && (
        <ul>
          {causes.map((c) => (
            <li key={`${c.code} ${c.text}`}>
              <Sentence e={c} project={at.project} zone={zone} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** Sentence says one reason in the reader's language; a code that is not known stands as it came. */
function Sentence({ e, project, zone }: { e: Explanation; project: string; zone: string }) {
  const { t } = useSay();
  const said = scheduleSays(e);
  if (said === undefined) {
    return (
      <>
        {t("explain.unknown", { code: e.code })} <CopyButton value={JSON.stringify(e)} label={t("instance.copyReason")} /> {e.text}
      </>
    );
  }
  const ms = millis(said.at);
  const at = ms === undefined ? "" : moment(ms, zone);
  const states = (said.states ?? []).map((s) => word(t, "state", s)).join(t("schedules.or"));
  const { fire } = said;
  // What is wrong in a field has words of its own where its code is known.
  const { field = "", code = "", value = "", column = "1" } = said.values;
  const mistake = said.key === "broken" ? sentenceOf(field, code) : undefined;
  const wrong = mistake ? t(mistake, { value, column }) : (said.values.text ?? "");
  const outcome = fire ? word(t, "state", fire.state) + (fire.reason ? ` (${reasonWords(t, fire.reason)})` : "") : "";
  return (
    <>
      {t(`schedules.say.${said.key}`, { ...said.values, at, states, outcome, wrong })}
      {fire?.instance && (
        <>
          {" "}
          <Link to="/p/$project/r/$id" params={{ project, id: fire.instance }} className="mono">
            {fire.instance}
          </Link>
        </>
      )}
      {e.since && !fire && (
        <span className="faint">
          {" "}
          (<Ago at={e.since} />)
        </span>
      )}
    </>
  );
}
