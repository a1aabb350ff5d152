import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Pause, Pencil, Play, Zap } from "lucide-react";
import { Suspense } from "react";
import { scheduleQuery } from "../api/schedules";
import { foretold } from "../domain/schedule/when";
import { useSay } from "../i18n";
import { Crumbs } from "../parts/Crumbs";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { piece } from "../parts/piece";
import { RowMenu } from "../parts/RowMenu";
import { Ago } from "../parts/Times";
import { useOnce } from "../parts/useOnce";
import { useStay } from "../parts/useStay";
import { CallAddress } from "../schedule/CallAddress";
import { Ledger } from "../schedule/Ledger";
import { Meeting } from "../schedule/Meeting";
import { FireLines } from "../schedule/NextFires";
import { NextFire, Standing } from "../schedule/ScheduleTable";
import { useResume } from "../schedule/useResume";
import { ScheduleWhy } from "../schedule/Why";
import { Outcome, whenWords } from "../schedule/words";
import type { ScheduleSearch } from "../searchSchedule";
import { useWhyNot } from "../shell/me";
import "../account/account.css";
import "../schedule/schedule.css";

// The calendar is what the page is opened for: what asks and what changes comes when it is wanted.
const ScheduleActs = piece(() => import("../schedule/Acts").then((m) => m.ScheduleActs));
const DayDrawer = piece(() => import("../schedule/DayDrawer").then((m) => m.DayDrawer));
const route = getRouteApi("/p/$project/w/$workflow/s/$schedule");
/** shownNext is how many of the next fires stand in the head; the calendar has the rest. */
const shownNext = 5;

/** SchedulePage is one schedule: what it does, and what became of its fires. */
export function SchedulePage() {
  const { t, locale } = useSay();
  const at = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const leave = useNavigate();
  const schedule = useQuery(scheduleQuery(at));
  const why = useWhyNot(at.project);
  const resume = useResume();
  const [acted, looked] = [useOnce(search.do !== undefined), useOnce(search.day !== undefined)];
  const set = (part: ScheduleSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  if (schedule.isError) return <ErrorView error={schedule.error} retry={() => void schedule.refetch()} />;
  if (schedule.isPending) return <SkeletonRows />;
  const s = schedule.data;
  const zone = s.timezone ?? "UTC";
  const [edits, runs] = [why("editor"), why("operator")];
  const allowed = search.do === "pause" || search.do === "trigger" ? runs === undefined : edits === undefined;
  return (
    <div className="page">
      <Crumbs project={at.project}>
        <Link to="/p/$project/w/$workflow" params={at} search={{ tab: "schedules" }}>
          {s.workflow}
        </Link>
      </Crumbs>
      <div className="title-row">
        <h1>{s.name}</h1>
        <Standing s={s} />
        <span className="push schedule-do">
          <Guarded variant="default" leftSection={<Zap size={14} />} why={runs} onClick={() => set({ do: "trigger" })}>
            {t("schedules.trigger")}
          </Guarded>
          {s.enabled ? (
            <Guarded variant="default" leftSection={<Pause size={14} />} why={runs} onClick={() => set({ do: "pause" })}>
              {t("schedules.pause")}
            </Guarded>
          ) : (
            <Guarded leftSection={<Play size={14} />} why={runs} loading={resume.isPending} onClick={() => resume.mutate(s)}>
              {t("schedules.resume")}
            </Guarded>
          )}
          <Guarded variant="default" leftSection={<Pencil size={14} />} why={edits} onClick={() => set({ do: "edit" })}>
            {t("schedules.edit")}
          </Guarded>
          <RowMenu
            label={t("schedules.actions", { name: s.name })}
            actions={[{ label: t("schedules.delete"), run: () => set({ do: "delete" }), why: edits }]}
          />
        </span>
      </div>
      {resume.isError && <ErrorView error={resume.error} />}
      <ScheduleWhy at={at} zone={zone} />
      <div className="schedule-head">
        <dl className="account-facts">
          <dt>{t("schedules.when")}</dt>
          <dd>
            {whenWords(t, locale, s)} {s.cron && <code className="faint">{s.cron}</code>}
          </dd>
          <dt>{t("schedules.timezone")}</dt>
          <dd>{zone}</dd>
          <dt>{t("schedules.next")}</dt>
          <dd>
            <NextFire s={s} />
          </dd>
          <dt>{t("schedules.last")}</dt>
          <dd>
            {s.last ? (
              <>
                <Outcome fire={s.last} />{" "}
                <span className="faint">
                  <Ago at={s.last.at} />
                </span>
              </>
            ) : (
              <span className="faint">{t("schedules.noLast")}</span>
            )}
          </dd>
          {foretold(s) && (
            <>
              <dt>{t("schedules.misfire")}</dt>
              <dd>{t(`schedules.misfire.${s.misfire?.policy ?? "latest"}`)}</dd>
            </>
          )}
          <dt>{t("schedules.overlap")}</dt>
          <dd>{t(`schedules.overlap.${s.overlap ?? "allow"}`)}</dd>
        </dl>
        <div>
          <h2>{t("schedules.nextFires")}</h2>
          {s.after ? (
            <p className="faint">{t("schedules.afterFires")}</p>
          ) : s.webhook ? (
            <>
              <p className="faint">{t("schedules.callComes")}</p>
              <CallAddress id={s.id} secret={s.webhook.secret} />
            </>
          ) : (
            <>
              <Meeting of={s} overlap={s.overlap ?? "allow"} />
              <FireLines fires={s.next.slice(0, shownNext)} />
            </>
          )}
        </div>
      </div>
      <Ledger at={at} zone={zone} next={s.enabled ? s.next : none} search={search} set={set} />
      <Suspense>
        {looked && (
          <DayDrawer
            at={at}
            zone={zone}
            next={s.enabled ? s.next : none}
            day={search.day}
            onClose={() => set({ day: undefined }, true)}
            onRun={(run) => set({ run })}
          />
        )}
        {acted && (
          <ScheduleActs
            schedule={s}
            act={allowed ? search.do : undefined}
            onClose={() => set({ do: undefined }, true)}
            onDeleted={() => void leave({ to: "/p/$project/schedules", params: { project: at.project } })}
          />
        )}
      </Suspense>
    </div>
  );
}

// One list for all drawings: the calendar is worked out again only for another one.
const none: never[] = [];
