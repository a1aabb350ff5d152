import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { useFresh } from "../account/useFresh";
import { instanceRowQuery, type LiveTask, type LiveTaskFilter, liveTasksQuery } from "../api/tasks";
import { useSay } from "../i18n";
import { ActionDialog, type Intent } from "../parts/ActionDialog";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { useStay } from "../parts/useStay";
import type { TasksSearch } from "../searchPages";
import { LiveTaskTable } from "../task/LiveTaskTable";
import { TaskFilters } from "../task/TaskFilters";
import "../task/task.css";

const route = getRouteApi("/tasks");

function filterOf(s: TasksSearch): LiveTaskFilter {
  return {
    is: s.is ?? "running",
    project: s.project,
    workflow: s.project === undefined ? undefined : s.workflow,
    worker: s.worker,
    worker_group: s.group,
    task_group: s.places,
    task: s.q,
    state: s.st,
    older: s.older,
  };
}

/** TasksPage lists the tasks that run or wait now, of all instances. */
export function TasksPage() {
  const { t } = useSay();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const leave = useNavigate();
  const list = useInfiniteQuery(liveTasksQuery(filterOf(search), search.is === "waiting" ? 50 : 100));
  useFresh("live-tasks");
  const items = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const waiting = search.is === "waiting";
  const [wish, setWish] = useState<{ id: string; intent: Intent }>();
  const { is, ...narrowing } = search;
  const open = (panel: "log" | "why", task: LiveTask) =>
    void leave({ to: "/p/$project/r/$id", params: { project: task.project, id: task.instance_id }, search: { task: task.task, panel } });
  return (
    <div className="page fill tasks-page">
      <div className="title-row">
        <h1>{t("tasks.title")}</h1>
        <span className="faint">{t("tasks.about")}</span>
      </div>
      <TaskFilters
        search={search}
        onFilter={(part) => void go({ search: (s) => ({ ...s, ...part }), replace: true })}
        onClear={() => void go({ search: { is }, replace: true })}
      />
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={8} />
      ) : items.length === 0 && !list.hasNextPage ? (
        <p className="empty">
          {Object.values(narrowing).some((v) => v !== undefined)
            ? t("tasks.noMatch")
            : t(waiting ? "tasks.emptyWaiting" : "tasks.emptyRunning")}
        </p>
      ) : (
        <>
          <LiveTaskTable
            items={items}
            waiting={waiting}
            more={list.hasNextPage}
            loading={list.isFetchingNextPage}
            onMore={() => void list.fetchNextPage()}
            onAct={(verb, task) => setWish({ id: task.instance_id, intent: { verb, task: task.task } })}
            onOpen={open}
          />
          <p className="faint meta" role="status">
            {t(list.hasNextPage ? "tasks.countMore" : "tasks.count", { count: items.length })}
          </p>
        </>
      )}
      {wish && <Act key={`${wish.id} ${wish.intent.task}`} id={wish.id} intent={wish.intent} onClose={() => setWish(undefined)} />}
    </div>
  );
}

/** Act asks what a verb would change before it is sent; the dialog knows its instance first. */
function Act({ id, intent, onClose }: { id: string; intent: Intent; onClose: () => void }) {
  const instance = useQuery(instanceRowQuery(id));
  if (instance.isError) return <ErrorView error={instance.error} retry={() => void instance.refetch()} />;
  return instance.data ? <ActionDialog instance={instance.data} intent={intent} onClose={onClose} /> : null;
}
