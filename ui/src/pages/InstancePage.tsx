import { Tabs } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Suspense, useCallback, useMemo, useState } from "react";
import type { Instance, InstanceEvent, Task } from "../api/client";
import { mediansQuery } from "../api/grid";
import { neighboursQuery } from "../api/instances";
import { attemptsQuery, eventsQuery, graphQuery, instanceQuery, layoutQuery, tasksQuery } from "../api/queries";
import { isFinalTask, isLive } from "../domain/states";
import { GraphView, type NodeState } from "../graph/GraphView";
import { useRules } from "../graph/useRules";
import { type Sentence, useSay } from "../i18n";
import { Banner } from "../instance/Banner";
import { EventTable } from "../instance/EventTable";
import { Failing } from "../instance/Failing";
import { InstanceHead } from "../instance/InstanceHead";
import { nodeStates } from "../instance/nodeStates";
import { Parameters } from "../instance/Parameters";
import { TaskPanel } from "../instance/TaskPanel";
import { TaskTable } from "../instance/TaskTable";
import { Unconfirmed } from "../instance/Unconfirmed";
import { piece } from "../parts/piece";
import "../instance/view.css";
import { useLiveInstance, useLiveItems } from "../live/live";
import { ActionDialog } from "../parts/ActionDialog";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { useStay } from "../parts/useStay";
import type { Intent } from "../parts/verbs";
import { type InstanceSearch, type InstanceTab, instanceTabs } from "../search";
import { useKeys } from "../shell/keys";
import { useWhyNot } from "../shell/me";

const Compare = piece(() => import("../instance/Compare").then((m) => m.Compare));
const GanttChart = piece(() => import("../parts/GanttChart").then((m) => m.GanttChart));
const Related = piece(() => import("../instance/about/Related").then((m) => m.Related));
const none: ReadonlyMap<string, number> = new Map();
const route = getRouteApi("/p/$project/r/$id");
const words: Record<InstanceTab, Sentence> = {
  graph: "run.graph",
  gantt: "run.gantt",
  tasks: "run.tasks",
  params: "run.params",
  events: "run.events",
  related: "run.related",
  compare: "instance.compare",
};
const phone = window.matchMedia("(max-width: 640px)");

export function InstancePage() {
  const { id } = route.useParams();
  const instance = useQuery(instanceQuery(id));
  const tasks = useQuery(tasksQuery(id));
  useLiveInstance(id);
  if (instance.isError) return <ErrorView error={instance.error} retry={() => void instance.refetch()} />;
  if (tasks.isError) return <ErrorView error={tasks.error} retry={() => void tasks.refetch()} />;
  if (instance.isPending || tasks.isPending) return <SkeletonRows rows={8} />;
  return <Loaded instance={instance.data} tasks={tasks.data} />;
}

function Loaded({ instance, tasks }: { instance: Instance; tasks: Task[] }) {
  const { t } = useSay();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const [intent, setIntent] = useState<Intent>();
  const id = instance.id;
  const live = isLive(instance.state);
  // On a phone the list of tasks comes first: a graph is drawn on request.
  const tab = search.tab ?? (phone.matches ? "tasks" : "graph");
  const set: Set = useCallback((part, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace }), [go]);
  // The same function while it does the same: every node of the graph is given it.
  const choose = useCallback(
    (task: string) =>
      void go({
        search: (s) => ({ ...s, task, attempt: undefined, line: undefined, inside: undefined, panel: s.panel ?? "log" }),
        replace: search.task !== undefined,
      }),
    [go, search.task],
  );
  useLiveItems(
    id,
    tasks.some((x) => x.items && !isFinalTask(x.state)),
  );
  const states = useMemo(() => nodeStates(tasks), [tasks]);
  const order = useMemo(() => new Map(tasks.map((x, i) => [x.name, i])), [tasks]);
  const failed = tasks.find((x) => x.state === "failed") ?? tasks.find((x) => x.state === "killed");
  const around = useQuery(neighboursQuery(id));
  const leave = useNavigate();
  const held = useWhyNot(instance.project)("operator");
  const keys = useMemo(() => {
    const beside = (to: string | undefined) => {
      if (to) void leave({ to: "/p/$project/r/$id", params: { project: instance.project, id: to }, search: { tab: search.tab } });
    };
    return {
      ...Object.fromEntries(instanceTabs.map((x, i) => [String(i + 1), () => void go({ search: (s) => ({ ...s, tab: x }) })])),
      "[": () => beside(around.data?.previous),
      "]": () => beside(around.data?.next),
      r: () => (held === undefined ? setIntent({ verb: "rerun" }) : notifications.show({ id: "held", message: held })),
      e: () => {
        const task = search.task ?? failed?.name;
        if (task !== undefined) void go({ search: (s) => ({ ...s, task, panel: "why" as const }) });
      },
      f: () => window.dispatchEvent(new Event("porpoise:fit")),
      l: () => {
        const task = search.task ?? failed?.name;
        if (task !== undefined) void go({ search: (s) => ({ ...s, task, panel: "log" as const }) });
      },
      // biome-ignore lint/correctness/noComponentHookFactories: it is the name of a key
      Escape: () =>
        void go({ search: (s) => ({ ...s, task: undefined, panel: undefined, attempt: undefined, line: undefined, inside: undefined }) }),
    };
  }, [go, leave, instance.project, around.data, search.task, search.tab, failed?.name, held]);
  useKeys(keys);
  const last = around.data?.last_success;
  const onLog = useCallback(
    (task: string, attempt: number, line: string | undefined) =>
      set({ task, attempt: String(attempt), line, out: undefined, panel: "log" }),
    [set],
  );
  const onShow = useCallback((task: string) => set({ task, tab: "graph" }), [set]);
  const onCompare = useMemo(() => (last ? () => set({ tab: "compare", with: last, task: undefined }) : undefined), [set, last]);
  const head = useMemo(() => <InstanceHead instance={instance} tasks={tasks} onIntent={setIntent} />, [instance, tasks]);
  const banner = useMemo(
    () => <Banner instance={instance} tasks={tasks} onLog={onLog} onShow={onShow} onIntent={setIntent} onCompare={onCompare} />,
    [instance, tasks, onLog, onShow, onCompare],
  );
  return (
    <div className="page fill instance">
      {head}
      {banner}
      <Failing key={id} tasks={tasks} />
      <Unconfirmed id={id} tasks={tasks} />
      <div className="split" data-panel={search.task !== undefined}>
        <Tabs value={tab} onChange={(v) => set({ tab: instanceTabs.find((x) => x === v) })} keepMounted={false} className="tabs">
          <Tabs.List aria-label={instance.workflow}>
            {instanceTabs.map((x) => (
              <Tabs.Tab key={x} value={x}>
                {t(words[x])}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          <Tabs.Panel value="graph">
            <Drawing instance={instance} states={states} search={search} set={set} choose={choose} />
          </Tabs.Panel>
          <Tabs.Panel value="gantt">
            <History id={id}>
              {(events) => (
                <Chart
                  instance={instance}
                  events={events}
                  order={order}
                  states={states}
                  live={live}
                  sort={search.sort ?? "start"}
                  onSort={(sort) => set({ sort }, true)}
                  zoom={search.zoom}
                  onZoom={(zoom) => set({ zoom })}
                  chosen={search.task}
                  onChoose={choose}
                />
              )}
            </History>
          </Tabs.Panel>
          <Tabs.Panel value="tasks">
            <TaskTable
              tasks={tasks}
              live={live}
              chosen={search.task}
              // On a phone the list opens on what is wrong; a choice made stays in the address.
              problems={search.problems === undefined ? phone.matches && failed !== undefined : search.problems === "1"}
              onProblems={(on) => set({ problems: on ? "1" : "0" }, true)}
              onChoose={choose}
            />
          </Tabs.Panel>
          <Tabs.Panel value="params">
            <Parameters id={id} />
          </Tabs.Panel>
          <Tabs.Panel value="events">
            <History id={id}>
              {(events) => (
                <EventTable
                  instance={instance}
                  events={events}
                  filter={search.ev ?? ""}
                  onFilter={(ev) => set({ ev: ev || undefined }, true)}
                />
              )}
            </History>
          </Tabs.Panel>
          <Tabs.Panel value="related">
            <Suspense fallback={<SkeletonRows />}>
              <Related instance={instance} tasks={tasks} />
            </Suspense>
          </Tabs.Panel>
          <Tabs.Panel value="compare">
            <Suspense fallback={<SkeletonRows />}>
              <Compare instance={instance} tasks={tasks} other={search.with} onOther={(x) => set({ with: x })} onChoose={choose} />
            </Suspense>
          </Tabs.Panel>
        </Tabs>
        {search.task !== undefined && (
          <Panel
            instance={instance}
            task={tasks.find((x) => x.name === search.task)}
            name={search.task}
            search={search}
            set={set}
            onIntent={setIntent}
            onShow={choose}
          />
        )}
      </div>
      <ActionDialog instance={instance} intent={intent} onClose={() => setIntent(undefined)} />
    </div>
  );
}

type Set = (part: InstanceSearch, replace?: boolean) => void;

interface DrawingProps {
  instance: Instance;
  states: Map<string, NodeState>;
  search: InstanceSearch;
  set: Set;
  choose: (task: string) => void;
}

function Drawing({ instance, states, search, set, choose }: DrawingProps) {
  const { project, workflow, version } = instance;
  const graph = useQuery(graphQuery(project, workflow, version));
  const layout = useQuery(layoutQuery(project, workflow));
  const rules = useRules(project, workflow, version);
  if (graph.isError) return <ErrorView error={graph.error} retry={() => void graph.refetch()} />;
  if (graph.isPending || layout.isPending) return <SkeletonRows />;
  return (
    <GraphView
      name={workflow}
      tasks={graph.data.tasks}
      places={layout.data?.tasks}
      rules={rules}
      states={states}
      chosen={search.task}
      onChoose={choose}
      problems={search.problems === "1"}
      onProblems={(on) => set({ problems: on ? "1" : undefined }, true)}
    />
  );
}

/** Chart is the Gantt chart with the edges of the version that ran, which its critical path follows. */
function Chart({ instance, ...rest }: { instance: Instance } & Omit<React.ComponentProps<typeof GanttChart>, "needs" | "medians">) {
  const graph = useQuery(graphQuery(instance.project, instance.workflow, instance.version));
  const usual = useQuery(mediansQuery(instance.project, instance.workflow));
  const needs = useMemo(() => new Map(graph.data?.tasks.map((x) => [x.name, x.needs ?? []])), [graph.data]);
  return (
    <Suspense fallback={<SkeletonRows />}>
      <GanttChart {...rest} needs={needs} medians={usual.data ?? none} />
    </Suspense>
  );
}

function History({ id, children }: { id: string; children: (events: InstanceEvent[]) => React.ReactNode }) {
  const events = useQuery(eventsQuery(id));
  if (events.isError) return <ErrorView error={events.error} retry={() => void events.refetch()} />;
  if (events.isPending) return <SkeletonRows />;
  return children(events.data);
}

interface PanelProps {
  instance: Instance;
  task: Task | undefined;
  name: string;
  search: InstanceSearch;
  set: Set;
  onIntent: (intent: Intent) => void;
  onShow: (task: string) => void;
}

function Panel({ instance, task, name, search, set, onIntent, onShow }: PanelProps) {
  const attempts = useQuery(attemptsQuery(instance.id, name));
  const close = () => set({ task: undefined, panel: undefined, attempt: undefined, line: undefined, full: undefined, inside: undefined });
  if (attempts.isError) return <ErrorView error={attempts.error} retry={() => void attempts.refetch()} />;
  return (
    <TaskPanel
      instance={instance}
      task={task}
      name={name}
      attempts={attempts.data ?? []}
      loading={attempts.isPending}
      search={search}
      set={set}
      onClose={close}
      onIntent={onIntent}
      onShow={onShow}
    />
  );
}
