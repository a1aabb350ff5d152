import { Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Fire, fireDaysQuery, firesQuery, type PlannedFire, type ScheduleAt } from "../api/schedules";
import { clockTime, duration, millis, moment } from "../domain/format";
import { plus, startOf } from "../domain/schedule/days";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { Drawer } from "../parts/layers";
import { StateWord } from "../parts/StateIcon";
import { useWhyNot } from "../shell/me";
import { BackfillButton } from "./BackfillButton";
import { FireLines } from "./NextFires";
import { outcomeOf, reasonWords } from "./words";
import "@mantine/core/styles/Drawer.css";

interface Props {
  at: ScheduleAt;
  zone: string;
  next: PlannedFire[];
  day: string | undefined; // the drawer is closed without
  onClose: () => void;
  onRun: (run: string) => void; // a moment, or "missed" for all of the day
}

/** DayDrawer lists the fires of a day with what became of each. */
export function DayDrawer({ at, zone, next, day, onClose, onRun }: Props) {
  const { t } = useSay();
  return (
    <Drawer
      opened={day !== undefined}
      onClose={onClose}
      position="right"
      size="min(720px, 100%)"
      title={t("ledger.dayTitle", { name: at.schedule, day: day ?? "" })}
      classNames={{ title: "drawer-title" }}
    >
      {day !== undefined && <Body at={at} zone={zone} next={next} day={day} onRun={onRun} />}
    </Drawer>
  );
}

function Body({ at, zone, next, day, onRun }: Omit<Props, "onClose"> & { day: string }) {
  const { t } = useSay();
  const why = useWhyNot(at.project)("operator");
  const [from, to] = [day, plus(day, 1)].map((d) => new Date(startOf(d, zone)).toISOString()) as [string, string]; // two of two
  const fires = useInfiniteQuery(firesQuery(at, from, to));
  const sums = useQuery(fireDaysQuery(at, from, to));
  if (fires.isError) return <ErrorView error={fires.error} retry={() => void fires.refetch()} />;
  if (fires.isPending) return <SkeletonRows rows={6} />;
  const rows = fires.data.pages.flatMap((p) => p.items);
  const pruned = sums.data?.days.find((d) => d.day === day)?.pruned ?? 0;
  const known = new Set(rows.map((f) => f.at));
  const foretold = next.filter((f) => f.local.startsWith(day) && !known.has(f.at));
  return (
    <div className="stack">
      {pruned > 0 && <p className="faint">{t("ledger.pruned", { count: pruned })}</p>}
      {rows.length === 0 && foretold.length === 0 && pruned === 0 && <p className="empty">{t("ledger.noRows")}</p>}
      <div className="ledger-run">
        {rows.filter(mayRun).length > 1 && (
          <Guarded variant="default" why={why} onClick={() => onRun("missed")}>
            {t("ledger.runMissed")}
          </Guarded>
        )}
        <BackfillButton at={at} from={day} to={day} />
      </div>
      {rows.length > 0 && <FireTable at={at} zone={zone} rows={rows} onRun={onRun} />}
      {fires.hasNextPage && (
        <Button variant="default" loading={fires.isFetchingNextPage} onClick={() => void fires.fetchNextPage()}>
          {t("ledger.more")}
        </Button>
      )}
      {foretold.length > 0 && (
        <>
          <p className="faint">{t("ledger.foretold", { count: foretold.length })}</p>
          <FireLines fires={foretold} />
        </>
      )}
    </div>
  );
}

/** mayRun says that a fire started nothing, and nobody has made up for it. */
function mayRun(f: Fire): boolean {
  return (f.state === "missed" || f.state === "skipped") && !f.instance_id;
}

interface TableProps {
  at: ScheduleAt;
  zone: string;
  rows: Fire[];
  onRun: (run: string) => void;
}

function FireTable({ at, zone, rows, onRun }: TableProps) {
  const { t } = useSay();
  const why = useWhyNot(at.project)("operator");
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("ledger.title")}>
      <table className="plain fires">
        <thead>
          <tr>
            <th>{t("ledger.time")}</th>
            <th>{t("ledger.outcome")}</th>
            <th className="num">{t("ledger.late")}</th>
            <th>{t("ledger.instance")}</th>
            <th>{t("ledger.master")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((f) => {
            const ms = millis(f.at) ?? 0;
            return (
              <tr key={f.at}>
                <td className="num">
                  <time dateTime={f.at} title={moment(ms, zone)}>
                    {clockTime(ms, zone)}
                  </time>
                  {f.after_instance_id && (
                    <span className="faint">
                      {" "}
                      <Link to="/p/$project/r/$id" params={{ project: "-", id: f.after_instance_id }}>
                        {t("ledger.afterInstance", { id: f.after_instance_id })}
                      </Link>
                    </span>
                  )}
                </td>
                <td>
                  <StateWord state={outcomeOf(f)} size={14} />
                  {f.reason && <span className="faint why"> {reasonWords(t, f.reason)}</span>}
                </td>
                <td className="num">{f.state === "fired" ? duration(f.late_ms ?? 0) : "–"}</td>
                <td>
                  {f.instance_id ? (
                    <Link to="/p/$project/r/$id" params={{ project: at.project, id: f.instance_id }} className="mono">
                      {f.instance_id}
                    </Link>
                  ) : mayRun(f) ? (
                    <Guarded
                      variant="default"
                      size="compact-xs"
                      why={why}
                      aria-label={t("ledger.runAt", { time: clockTime(ms, zone) })}
                      onClick={() => onRun(f.at)}
                    >
                      {t("ledger.runOne")}
                    </Guarded>
                  ) : (
                    "–"
                  )}
                </td>
                <td className="faint mono">{f.master ?? "–"}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
