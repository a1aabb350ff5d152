import { Checkbox, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Pulse, timerSlicesQuery } from "../api/cluster";
import { clockTime, duration, millis } from "../domain/format";
import { inOrder } from "../domain/schedule/days";
import { HeatMap } from "../heat/HeatMap";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateWord } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import type { ClusterSearch } from "../searchCluster";
import { useSettings } from "../settings";
import { seconds } from "./Heard";

interface Props {
  pulse: Pulse;
  search: ClusterSearch;
  set: (part: ClusterSearch, replace?: boolean) => void;
}

const minute = 60_000;

/** TimersTab is how the calls of all timers go, and what is due in the next minutes. */
export function TimersTab({ pulse, search, set }: Props) {
  const { t, locale } = useSay();
  const { zone } = useSettings();
  const now = useNow();
  const slices = useQuery(timerSlicesQuery);
  if (slices.isError && !slices.data) return <ErrorView error={slices.error} retry={() => void slices.refetch()} />;
  if (slices.isPending) return <SkeletonRows rows={8} />;
  const { minutes, overdue, oldest, enabled, tasks } = slices.data;
  const format = new Intl.NumberFormat(locale);
  const peak = Math.max(0, ...minutes.flatMap((m) => m.due));
  const at = (text: string) => clockTime(millis(text) ?? 0, zone).slice(0, 5);
  const sum = (due: number[]) => due.reduce((a, b) => a + b, 0);
  const rate = (n: number | undefined) => (n === undefined ? "–" : t("timerHeat.rate", { n: format.format(n) }));
  const late = (ms: number | undefined) => (ms === undefined ? "–" : t("timerHeat.upTo", { time: duration(ms) }));
  const timers = pulse.timers;
  return (
    <div className="timers-tab">
      <dl className="account-facts timer-facts num">
        <dt>{t("timerHeat.enabled")}</dt>
        <dd>{format.format(enabled)}</dd>
        <dt>{t("timerHeat.called")}</dt>
        <dd data-called={timers.called_per_s}>
          {rate(timers.called_per_s)}{" "}
          {timers.called_per_s !== undefined && (
            <span className="faint">
              {t("timerHeat.ledTo", {
                ok: format.format(timers.succeeded_per_s ?? 0),
                again: format.format(timers.retried_per_s ?? 0),
                failed: format.format(timers.failed_per_s ?? 0),
              })}
            </span>
          )}
        </dd>
        <dt>{t("timerHeat.underWay")}</dt>
        <dd>{format.format(timers.under_way)}</dd>
        <dt>{t("timerHeat.late")}</dt>
        <dd>
          p50 {late(timers.late_p50_ms)}, p99 {late(timers.late_p99_ms)}
        </dd>
        <dt>{t("timerHeat.overdue")}</dt>
        <dd className={overdue > 0 ? "text-failed" : undefined}>
          {t(overdue >= 10_000 ? "timerHeat.overdueMany" : "timerHeat.overdueOf", { count: overdue, n: format.format(overdue) })}{" "}
          {oldest && (
            <span className="faint">
              {t("timerHeat.oldest")} <Ago at={oldest} />
            </span>
          )}
        </dd>
        <dt>{t("timerHeat.ended")}</dt>
        <dd>
          {inOrder(tasks).map(([state, n]) => (
            <span key={state} className="timer-ended">
              {format.format(n)} <StateWord state={state} size={14} />
            </span>
          ))}
          {Object.keys(tasks).length === 0 && "–"}
        </dd>
      </dl>
      <section>
        <div className="part-head">
          <h2>{t("timerHeat.title")}</h2>
          <SegmentedControl
            aria-label={t("heat.view")}
            value={search.view === "table" ? "table" : "map"}
            onChange={(v) => set({ view: v === "table" ? "table" : undefined })}
            data={[
              { value: "map", label: t("heat.map") },
              { value: "table", label: t("heat.table") },
            ]}
          />
          {search.view !== "table" && (
            <Checkbox
              label={t("heat.numbers")}
              checked={search.num === "1"}
              onChange={(e) => set({ num: e.currentTarget.checked ? "1" : undefined }, true)}
            />
          )}
          <span className="faint push num" role="status">
            {t("timerHeat.age", { age: seconds(Math.max(0, now - slices.dataUpdatedAt)) })}
          </span>
        </div>
        <p className="faint">{t("timerHeat.about")}</p>
        {peak === 0 ? (
          <p className="empty">{t("timerHeat.empty")}</p>
        ) : search.view === "table" ? (
          <div className="scroll-x" tabIndex={0} role="group" aria-label={t("timerHeat.label")}>
            <table className="plain">
              <thead>
                <tr>
                  <th>{t("timerHeat.minute")}</th>
                  <th className="n">{t("timerHeat.due")}</th>
                  <th className="n">{t("timerHeat.perSecond")}</th>
                  <th className="n">{t("timerHeat.fullest")}</th>
                  <th className="n">{t("timerHeat.folded")}</th>
                </tr>
              </thead>
              <tbody>
                {minutes.map((m) => (
                  <tr key={m.at}>
                    <td className="num">{at(m.at)}</td>
                    <td className="n num">{t(m.partly ? "timerHeat.aboutN" : "timerHeat.n", { n: format.format(sum(m.due)) })}</td>
                    <td className="n num">{format.format(Math.round((sum(m.due) / (minute / 1000)) * 10) / 10)}</td>
                    <td className="n num">{format.format(Math.max(...m.due))}</td>
                    <td className="n num">{m.buckets ?? "–"}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        ) : (
          <HeatMap
            label={t("timerHeat.label")}
            rows={minutes.map((m) => ({ key: m.at, head: at(m.at), cells: m.due }))}
            columns={(minutes[0]?.due ?? []).map((_, bucket) => String(bucket))}
            peak={peak}
            numbers={search.num === "1"}
            say={(row, bucket, n) => t("timerHeat.cell", { minute: at(minutes[row]?.at ?? ""), bucket, n: format.format(n) })}
          />
        )}
      </section>
    </div>
  );
}
