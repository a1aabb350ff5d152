import { ActionIcon } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { X } from "lucide-react";
import "../instance/view.css";
import "../log/log.css";
import { type GridOf, historyQuery, type TaskRun } from "../api/grid";
import { duration, millis } from "../domain/format";
import { percentile } from "../domain/grid/figures";
import { lookOf } from "../domain/states";
import { useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { Moment } from "../parts/Times";

interface Props {
  of: GridOf;
  task: string;
  onClose: () => void;
  onOpen: (instance: string) => void;
}

interface Run extends TaskRun {
  waited: number | undefined; // ms between being ready and running
  took: number | undefined;
}

function timed(run: TaskRun): Run {
  const [ready, from, to] = [millis(run.ready_at), millis(run.started_at), millis(run.finished_at)];
  return {
    ...run,
    waited: ready === undefined || from === undefined ? undefined : Math.max(0, from - ready),
    took: from === undefined || to === undefined ? undefined : Math.max(0, to - from),
  };
}

/** TaskHistory is one task over time: how long it waited and ran in the last instances, how it ended, and after how many attempts. */
export function TaskHistory({ of, task, onClose, onOpen }: Props) {
  const { t } = useSay();
  const history = useQuery(historyQuery(of, task));
  const runs = history.data?.map(timed) ?? [];
  const median = percentile(
    runs.flatMap((r) => r.took ?? []),
    50,
  );
  const longest = Math.max(1, ...runs.map((r) => (r.waited ?? 0) + (r.took ?? 0)));
  return (
    <aside className="task-panel grid-history" aria-label={t("grid.history", { task })}>
      <div className="log-head">
        <h2 title={task}>{t("grid.history", { task })}</h2>
        <ActionIcon className="push" aria-label={t("log.close")} onClick={onClose}>
          <X size={16} />
        </ActionIcon>
      </div>
      {history.isError && <ErrorView error={history.error} retry={() => void history.refetch()} />}
      {history.isPending && (
        <div className="panel-body">
          <SkeletonRows rows={6} />
        </div>
      )}
      {history.isSuccess && runs.length === 0 && <p className="empty">{t("grid.historyNone")}</p>}
      {runs.length > 0 && (
        <div className="panel-body" tabIndex={0} role="region" aria-label={t("grid.history", { task })}>
          <Chart runs={runs} longest={longest} median={median} />
          <table className="plain">
            <thead>
              <tr>
                <th>{t("runs.id")}</th>
                <th>{t("run.state")}</th>
                <th>{t("run.started")}</th>
                <th className="end">{t("grid.waited")}</th>
                <th className="end">{t("run.duration")}</th>
                <th className="end">{t("run.attempts")}</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((r) => (
                <tr key={r.instance_id}>
                  <td>
                    <button type="button" className="link mono num" onClick={() => onOpen(r.instance_id)}>
                      {r.instance_id}
                    </button>
                  </td>
                  <td>
                    <span className={`state-word text-${lookOf(r.state).hue}`} title={r.reason ? word(t, "reason", r.reason) : undefined}>
                      <StateIcon state={r.state} size={14} />
                      {word(t, "state", r.state)}
                    </span>
                  </td>
                  <td className="num">
                    <Moment at={r.started_at} />
                  </td>
                  <td className="num end">{r.waited === undefined ? "–" : duration(r.waited)}</td>
                  <td className="num end">{r.took === undefined ? "–" : duration(r.took)}</td>
                  <td className="num end">{r.attempts}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </aside>
  );
}

/** Chart draws the table above it, the oldest on the left: what was waited below, what was run on top of it. */
function Chart({ runs, longest, median }: { runs: Run[]; longest: number; median: number | undefined }) {
  const { t } = useSay();
  const share = (ms: number | undefined) => `${((ms ?? 0) / longest) * 100}%`;
  return (
    <>
      <div className="history-chart" aria-hidden="true">
        {median !== undefined && <span className="history-median" style={{ bottom: share(median) }} />}
        {runs.toReversed().map((r) => (
          <span
            key={r.instance_id}
            className={`history-run hue-${lookOf(r.state).hue}`}
            title={`${r.instance_id}: ${r.took === undefined ? "–" : duration(r.took)}`}
          >
            <i className="took" style={{ height: share(r.took) }} />
            <i className="waited" style={{ height: share(r.waited) }} />
          </span>
        ))}
      </div>
      <p className="history-legend faint num">
        <span>
          <i className="took" /> {t("run.duration")}
        </span>
        <span>
          <i className="waited" /> {t("grid.waited")}
        </span>
        {median !== undefined && (
          <span>
            <i className="line" /> {t("grid.median", { took: duration(median) })}
          </span>
        )}
      </p>
    </>
  );
}
