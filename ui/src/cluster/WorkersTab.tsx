import { TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ChevronDown, ChevronRight, Search } from "lucide-react";
import { memo } from "react";
import { type Pulse, type PulseWorker, pulseQuery, type RunningTask, resumeWorker, runningTasksQuery } from "../api/cluster";
import { byGroup, type Samples, usual } from "../domain/cluster/nodes";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { RowMenu } from "../parts/RowMenu";
import type { ClusterSearch } from "../searchCluster";
import { Heard } from "./Heard";
import { Skew } from "./Masters";
import { Spark } from "./Spark";
import { tell } from "./tell";
import { WorkerTasks } from "./WorkerTasks";

/** dense is from how many workers on a row says only what is needed to find one. */
const dense = 50;
/** maxSegments is how many tasks a bar can show one by one; more would be lines. */
const maxSegments = 64;

interface Props {
  pulse: Pulse;
  search: ClusterSearch;
  set: (part: ClusterSearch, replace?: boolean) => void;
  why: string | undefined;
  loads: Samples; // of each life of a worker
}

/** WorkersTab lists the workers by group, with what each runs. */
export function WorkersTab({ pulse, loads, search, set, why }: Props) {
  const { t } = useSay();
  const running = useQuery(runningTasksQuery);
  const tasks = byWorker(running.data?.items ?? none);
  const wanted = (search.q ?? "").toLowerCase();
  const groups = byGroup(pulse.workers.filter((w) => w.name.toLowerCase().includes(wanted)));
  const version = usual(pulse.workers.map((w) => w.version));
  if (pulse.workers.length === 0) return <p className="empty warning">{t("cluster.noWorkers")}</p>;
  return (
    <div className={pulse.workers.length > dense ? "workers dense" : "workers"}>
      {(pulse.workers.length > 5 || search.q !== undefined) && (
        <div className="list-tools">
          <TextInput
            data-filter
            aria-label={t("cluster.filter")}
            placeholder={t("cluster.filter")}
            leftSection={<Search size={13} />}
            value={search.q ?? ""}
            onChange={(e) => set({ q: e.currentTarget.value || undefined }, true)}
          />
        </div>
      )}
      {running.isError && <ErrorView error={running.error} retry={() => void running.refetch()} />}
      {groups.length === 0 && <p className="empty">{t("cluster.noMatch")}</p>}
      {groups.map(({ group, workers }) => {
        const queue = pulse.queues.find((q) => q.kind === "group" && q.name === group);
        return (
          <section key={group}>
            <h2>
              {t("cluster.group", { name: group })}{" "}
              <span className="faint num">{t("cluster.groupRunning", { running: queue?.running ?? 0, slots: queue?.slots ?? 0 })}</span>
            </h2>
            <ul className="worker-list" aria-label={t("cluster.group", { name: group })}>
              {workers.map((w) => (
                <li key={w.name} data-worker={w.name} className="worker">
                  <WorkerRow
                    worker={w}
                    loads={loads.get(`${w.name} ${w.incarnation}`) ?? noLoads}
                    tasks={tasks.get(w.name) ?? none}
                    skew={w.version !== version}
                    limit={pulse.limits.worker_ms}
                    demo={pulse.demo?.includes(w.name) ?? false}
                    open={search.w === w.name}
                    set={set}
                    why={why}
                  />
                  {search.w === w.name && running.data && (
                    <WorkerTasks name={w.name} tasks={tasks.get(w.name) ?? none} hidden={running.data.hidden ?? 0} />
                  )}
                </li>
              ))}
            </ul>
          </section>
        );
      })}
      {/* The workers come by the stream, their tasks do not. */}
      {running.isPending && <SkeletonRows rows={1} />}
    </div>
  );
}

const none: RunningTask[] = [];
const noLoads: readonly number[] = [];

function byWorker(tasks: RunningTask[]): Map<string, RunningTask[]> {
  const all = new Map<string, RunningTask[]>();
  for (const task of tasks) all.set(task.worker, [...(all.get(task.worker) ?? []), task]);
  return all;
}

interface RowProps {
  worker: PulseWorker;
  loads: readonly number[]; // each second's since the page was opened, the newest last
  tasks: RunningTask[];
  skew: boolean;
  limit: number;
  demo: boolean;
  open: boolean;
  set: Props["set"];
  why: string | undefined;
}

function WorkerRow({ worker: w, loads, tasks, skew, limit, demo, open, set, why }: RowProps) {
  const { t } = useSay();
  const client = useQueryClient();
  const resume = useMutation({
    mutationFn: () => resumeWorker(w.name),
    onSuccess: () => {
      tell(t("cluster.resumed", { name: w.name }));
      void client.invalidateQueries({ queryKey: pulseQuery.queryKey });
    },
  });
  const busy = w.running ?? tasks.length;
  const drain =
    w.draining === undefined
      ? { label: t("cluster.drain"), run: () => set({ drain: w.name }), why }
      : { label: t("cluster.resume"), run: () => resume.mutate(), why };
  const kill = { label: t("cluster.killNode", { name: w.name }), run: () => set({ kill: w.name }), why };
  return (
    <>
      <div className="worker-row">
        <button
          type="button"
          className="worker-open"
          aria-expanded={open}
          aria-label={t("cluster.showTasks", { name: w.name })}
          onClick={() => set({ w: open ? undefined : w.name })}
        >
          {open ? <ChevronDown size={14} aria-hidden="true" /> : <ChevronRight size={14} aria-hidden="true" />}
          <strong>{w.name}</strong>
        </button>
        <Bar slots={w.slots} busy={busy} tasks={tasks} idle={w.draining !== undefined} />
        <span className="num worker-count">{t("cluster.capacity", { running: busy, slots: w.slots })}</span>
        <span className="worker-heard">
          <Heard since={w.silent_since} limit={limit} known={w.running !== undefined} />
        </span>
        <span className="faint num worker-more">
          {w.load !== undefined && (
            <span>
              {t("cluster.load", { load: w.load.toFixed(2) })} <Spark values={loads} />
            </span>
          )}
          {w.free_disk !== undefined && w.free_disk < 0.2 && <span>{t("cluster.disk", { percent: Math.round(w.free_disk * 100) })}</span>}
          {(w.outbox ?? 0) > 0 && <span>{t("cluster.outbox", { count: w.outbox ?? 0 })}</span>}
        </span>
        <span className="worker-notes">
          {skew && <Skew version={w.version} />}
          {w.draining !== undefined && <span className="tag">{t("cluster.draining", { reason: w.draining })}</span>}
          {Object.entries(w.labels ?? {}).map(([name, value]) => (
            <span key={name} className="tag">
              {name}={value}
            </span>
          ))}
        </span>
        <span className="worker-do">
          <RowMenu label={t("cluster.actions", { name: w.name })} actions={demo ? [drain, kill] : [drain]} />
        </span>
      </div>
      {resume.isError && <ErrorView error={resume.error} />}
    </>
  );
}

/**
 * Bar is a worker's capacity with a segment for each task. A click on a segment opens the task; who has no mouse opens the
 * worker and finds the same tasks as links.
 */
const Bar = memo(function Bar({ slots, busy, tasks, idle }: { slots: number; busy: number; tasks: RunningTask[]; idle: boolean }) {
  const go = useNavigate();
  const one = 100 / Math.max(1, slots, busy);
  const shown = busy <= maxSegments ? tasks.slice(0, busy) : [];
  return (
    <span className={idle ? "worker-bar idle" : "worker-bar"} aria-hidden="true">
      {shown.map((x) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: see above
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        <i
          key={`${x.instance_id} ${x.task} ${x.attempt}`}
          className={x.state === "running" ? "hue-running" : x.state === "killing" ? "hue-killed" : "hue-queued"}
          style={{ width: `${one}%` }}
          title={`${x.workflow} · ${x.task}`}
          onClick={() => void go({ to: "/p/$project/r/$id", params: { project: x.project, id: x.instance_id }, search: { task: x.task } })}
        />
      ))}
      {busy > shown.length && <i className="rest hue-running" style={{ width: `${one * (busy - shown.length)}%` }} />}
    </span>
  );
});
