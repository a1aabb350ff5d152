import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { cronWordsQuery, type Timer, type TimerRecord, timerQuery, timerRecordsQuery } from "../api/timers";
import { clockTime, duration, millis, moment } from "../domain/format";
import { useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Drawer } from "../parts/layers";
import { StateWord } from "../parts/StateIcon";
import { Due } from "../parts/Times";
import { useSettings } from "../settings";
import { Standing } from "./Standing";
import "@mantine/core/styles/Drawer.css";

const states = ["planned", "calling", "retry", "success", "failed", "skipped"];
// What a timer has where nothing was said.
const usual = { seconds: 10, tries: 5 };

/** TimerDrawer is one timer: when it calls whom, and what became of its firings. */
export function TimerDrawer({ app, id, onClose }: { app: string; id: string | undefined; onClose: () => void }) {
  const { t } = useSay();
  const one = useQuery({ ...timerQuery(app, id ?? ""), enabled: id !== undefined });
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size="min(760px, 100%)"
      title={one.data?.name ?? t("timers.title")}
      classNames={{ title: "drawer-title" }}
    >
      {one.isError ? (
        <ErrorView error={one.error} retry={() => void one.refetch()} />
      ) : one.data ? (
        <div className="stack">
          <Facts timer={one.data} />
          <Records key={one.data.id} app={app} timer={one.data} />
        </div>
      ) : (
        <SkeletonRows rows={6} />
      )}
    </Drawer>
  );
}

function Facts({ timer }: { timer: Timer }) {
  const { t, locale } = useSay();
  const cron = useQuery(cronWordsQuery(timer));
  const words = locale === "zh-CN" ? cron.data?.words["zh-CN"] : cron.data?.words.en;
  const { url, method, timeoutSeconds = usual.seconds, maxTries = usual.tries } = timer.notifyHTTPParam;
  return (
    <dl className="account-facts">
      <dt>{t("timers.standing")}</dt>
      <dd>
        <Standing timer={timer} />
      </dd>
      <dt>{t("timers.cron")}</dt>
      <dd>
        {words} <code className="faint">{timer.cron}</code> <span className="faint">{timer.timezone ?? "UTC"}</span>
      </dd>
      <dt>{t("timers.next")}</dt>
      <dd>
        {!timer.enabled && <span className="faint">{t("timers.nextIfOn")} </span>}
        <Due at={cron.data?.fires[0]?.at} />
      </dd>
      <dt>{t("timers.call")}</dt>
      <dd className="timer-url mono">
        {method} {url}
      </dd>
      <dt>{t("timers.limits")}</dt>
      <dd>{t("timers.limitsOf", { seconds: timeoutSeconds || usual.seconds, tries: maxTries || usual.tries })}</dd>
    </dl>
  );
}

function Records({ app, timer }: { app: string; timer: Timer }) {
  const { t } = useSay();
  // The newest are minutes of what is planned: what a person looks for is what happened, first of all what failed.
  const [state, filter] = useState(timer.failures > 0 ? "failed" : "success");
  const records = useInfiniteQuery(timerRecordsQuery(app, String(timer.id), state));
  const rows = records.data?.pages.flatMap((p) => p.data) ?? [];
  return (
    <section>
      <div className="timer-tools">
        <h2>{t("timers.records")}</h2>
        <Select
          w={160}
          aria-label={t("timers.filterState")}
          data={[{ value: "", label: t("timers.allStates") }, ...states.map((s) => ({ value: s, label: word(t, "state", s) }))]}
          value={state}
          onChange={(v) => filter(v ?? "")}
        />
      </div>
      <p className="faint">{t("timers.recordsAbout")}</p>
      {records.isError ? (
        <ErrorView error={records.error} retry={() => void records.refetch()} />
      ) : records.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <p className="empty">{t("timers.noRecords")}</p>
      ) : (
        <RecordTable rows={rows} />
      )}
      {records.hasNextPage && (
        <Button variant="default" loading={records.isFetchingNextPage} onClick={() => void records.fetchNextPage()}>
          {t("timers.more")}
        </Button>
      )}
    </section>
  );
}

function RecordTable({ rows }: { rows: TimerRecord[] }) {
  const { t } = useSay();
  const { zone } = useSettings();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("timers.records")}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("timers.time")}</th>
            <th>{t("timers.state")}</th>
            <th>{t("timers.late")}</th>
            <th>{t("timers.took")}</th>
            <th>{t("timers.triesOf")}</th>
            <th>{t("timers.answer")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => {
            const at = millis(r.plannedAt) ?? 0;
            return (
              <tr key={r.plannedAt}>
                <td className="num">
                  <time dateTime={r.plannedAt} title={moment(at, zone)}>
                    {clockTime(at, zone)}
                  </time>
                </td>
                <td>
                  <StateWord state={r.state} size={14} />
                </td>
                <td className="num">{r.calledAt ? duration(r.lateMS) : "–"}</td>
                <td className="num">{r.calledAt ? duration(r.costMS) : "–"}</td>
                <td className="num">{r.tries}</td>
                <td className="timer-answer" title={said(r)}>
                  {r.status > 0 && <span className="num">{r.status} </span>}
                  <span className="faint">{said(r)}</span>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

/** said is why a call failed, and what the receiver answered. */
function said(r: TimerRecord): string {
  return [r.error, r.response].filter((x) => x !== "").join(": ");
}
