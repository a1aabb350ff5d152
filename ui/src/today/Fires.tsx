import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Schedule, schedulesQuery } from "../api/schedules";
import { useSay } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { Due } from "../parts/Times";
import { Outcome, whenWords } from "../schedule/words";
import { comingFires, lateFires } from "./coming";

/** again is how often schedules are read here: they change at their fires, which no stream tells of. */
const again = 60_000;

/** Fires is what starts next by itself, and what did not start as it should have. */
export function Fires() {
  const { t } = useSay();
  const list = useQuery({ ...schedulesQuery(), refetchInterval: again });
  if (list.isError) return <ErrorView error={list.error} retry={() => void list.refetch()} />;
  const all = list.data ?? [];
  if (all.length === 0) return null;
  const late = lateFires(all);
  const next = comingFires(all);
  return (
    <>
      {late.length > 0 && (
        <section>
          <h2>
            {t("today.late")}
            <Link className="more" to="/schedules" search={{ is: "bad" }}>
              {t("today.more")}
            </Link>
          </h2>
          <ul className="fires">
            {late.map((s) => (
              <li key={s.id}>
                <ScheduleLink s={s} />
                {s.last && <Outcome fire={s.last} />}
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h2>
          {t("today.next")}
          <Link className="more" to="/schedules">
            {t("today.more")}
          </Link>
        </h2>
        {next.length === 0 ? (
          <p className="calm">{t("today.noNext")}</p>
        ) : (
          <ul className="fires">
            {next.map((s) => (
              <li key={s.id}>
                <ScheduleLink s={s} />
                <span className="num">
                  <Due at={s.next_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
    </>
  );
}

function ScheduleLink({ s }: { s: Schedule }) {
  const { t, locale } = useSay();
  return (
    <span className="fire-what">
      <Link to="/p/$project/w/$workflow/s/$schedule" params={{ project: s.project, workflow: s.workflow, schedule: s.name }}>
        {t("today.runsAt", { workflow: s.workflow, schedule: s.name })}
      </Link>{" "}
      <span className="faint">
        {s.project} · {whenWords(t, locale, s)}
      </span>
    </span>
  );
}
