import { Link } from "@tanstack/react-router";
import type { BackfillPlan, OfWorkflow } from "../api/backfills";
import { millis, moment } from "../domain/format";
import { businessDate } from "../domain/schedule/dates";
import { useSay } from "../i18n";

/** maxListed bounds the dates that are named; the counts say how many there are. */
const maxListed = 60;

/** Plan is what a backfill will run and what it leaves out, and why. */
export function Plan({ plan, of, zone }: { plan: BackfillPlan; of: OfWorkflow; zone: string }) {
  const { t } = useSay();
  const when = (at: string) => moment(millis(at) ?? 0, zone).replace(/ 00:00:00 .*$/, "");
  const rest = (n: number) => n > maxListed && <li className="faint">{t("backfills.andMore", { count: n - maxListed })}</li>;
  return (
    <div className="plan" role="status">
      <strong>{plan.count === 0 ? t("backfills.nothing") : t("backfills.plan", { count: plan.count })}</strong>
      <div className="plan-list" tabIndex={0} role="group" aria-label={t("backfills.preview")}>
        {plan.parts.map((p) => {
          const name = p.project === of.project ? p.workflow : `${p.project}/${p.workflow}`;
          return (
            <section key={name}>
              {(plan.parts.length > 1 || p.dates.length > 0) && (
                <h3>{t("backfills.planOf", { workflow: name, version: p.version, count: p.dates.length })}</h3>
              )}
              {p.dates.length > 0 && <p className="faint">{t("backfills.bothDates")}</p>}
              <ol className="plan-dates num">
                {p.dates.slice(0, maxListed).map((d) => (
                  <li key={d}>
                    {when(d)} <span className="faint">{businessDate(millis(d) ?? 0, zone)}</span>
                  </li>
                ))}
                {rest(p.dates.length)}
              </ol>
              {p.left_out.length > 0 && (
                <>
                  <p className="faint">{t("backfills.leftOut", { count: p.left_out.length })}</p>
                  <ul className="plan-dates num faint">
                    {p.left_out.slice(0, maxListed).map((d) => (
                      <li key={d.schedule_time}>
                        {when(d.schedule_time)}{" "}
                        {d.instance_id ? (
                          <Link to="/p/$project/r/$id" params={{ project: p.project, id: d.instance_id }}>
                            {t(`backfills.had.${d.had}`)}
                          </Link>
                        ) : (
                          t(`backfills.had.${d.had}`)
                        )}
                      </li>
                    ))}
                    {rest(p.left_out.length)}
                  </ul>
                </>
              )}
            </section>
          );
        })}
        {plan.left_out.map((w) => (
          <p key={`${w.project}/${w.workflow}`} className="warning">
            {t("backfills.without", { workflow: `${w.project}/${w.workflow}`, why: t(`backfills.why.${w.why}`) })}
          </p>
        ))}
      </div>
    </div>
  );
}
