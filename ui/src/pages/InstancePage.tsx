import { Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import type { Instance, InstanceEvent, Task } from "../api/client";
import { attemptsQuery, eventsQuery, graphQuery, instanceQuery, layoutQuery, tasksQuery } from "../api/queries";
import { isLive } from "../domain/states";
import { GraphView, type NodeState } from "../graph/GraphView";
import { type Sentence, useSay } from "../i18n";
import { Banner } from "../instance/Banner";
import { EventTable } from "../instance/EventTable";
import { InstanceHead } from "../instance/InstanceHead";
import { Parameters } from "../instance/Parameters";
import { TaskPanel } from "../instance/TaskPanel";
import { TaskTable } from "../instance/TaskTable";
import { useLiveInstance } from "../live/live";
import { ActionDialog, type Intent } from "../parts/ActionDialog";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { GanttChart } from "../parts/GanttChart";
import { type InstanceSearch, type InstanceTab, instanceTabs } from "../search";
import { useKeys } from "../shell/keys";

const route = getRouteApi("/p/$project/r/$id");
const words: Record<InstanceTab, Sentence> = {
  graph: "run.graph",
  gantt: "run.gantt",
  tasks: "run.tasks",
  params: "run.params",
  events: "run.events",
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
  const go = route.useNavigate();
  const [intent, setIntent] = useState<Intent>();
  const id = instance.id;
  const live = isLive(instance.state);
  // On a phone the list of tasks comes first: a graph is drawn on request.
  const tab = search.tab ?? (phone.matches ? "tasks" : "graph");
  const set = (part: InstanceSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const choose = (task: string) =>
    set({ task, attempt: undefined, line: undefined, panel: search.panel ?? "log" }, search.task !== undefined);
  const states = useMemo(() => new Map<string, NodeState>(tasks.map((x) => [x.name, { state: x.state, note: noteOf(x) }])), [tasks]);
  const order = useMemo(() => new Map(tasks.map((x, i) => [x.name, i])), [tasks]);
  const failed = tasks.find((x) => x.state === "failed") ?? tasks.find((x) => x.state === "killed");
  const keys = useMemo(
    () => ({
      ...Object.fromEntries(instanceTabs.map((x, i) => [String(i + 1), () => void go({ search: (s) => ({ ...s, tab: x }) })])),
      f: () => window.dispatchEvent(new Event("porpoise:fit")),
      l: () => {
        const task = search.task ?? failed?.name;
        if (task !== undefined) void go({ search: (s) => ({ ...s, task, panel: "log" as const }) });
      },
      // biome-ignore lint/correctness/noComponentHookFactories: it is the name of a key
      Escape: () => void go({ search: (s) => ({ ...s, task: undefined, panel: undefined, attempt: undefined, line: undefined }) }),
    }),
    [go, search.task, failed?.name],
  );
  useKeys(keys);
  return (
    <div className="page fill instance">
      <InstanceHead instance={instance} tasks={tasks} onIntent={setIntent} />
      <Banner
        instance={instance}
        tasks={tasks}
        onLog={(task, attempt) => set({ task, attempt: String(attempt), panel: "log" })}
        onShow={(task) => set({ task, tab: "graph" })}
      />
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
                <GanttChart
                  events={events}
                  order={order}
                  states={states}
                  live={live}
                  sort={search.sort ?? "start"}
                  onSort={(sort) => set({ sort }, true)}
                  chosen={search.task}
                  onChoose={choose}
                />
              )}
            </History>
          </Tabs.Panel>
          <Tabs.Panel value="tasks">
            <TaskTable tasks={tasks} live={live} chosen={search.task} onChoose={choose} />
          </Tabs.Panel>
          <Tabs.Panel value="params">
            <Parameters instance={instance} tasks={tasks} />
          </Tabs.Panel>
          <Tabs.Panel value="events">
            <History id={id}>{(events) => <EventTable events={events} />}</History>
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
          />
        )}
      </div>
      <ActionDialog id={id} workflow={instance.workflow} intent={intent} onClose={() => setIntent(undefined)} />
    </div>
  );
}

/** noteOf is what a node says beside its state: which attempt it is at, when not the first. */
function noteOf(task: Task): string {
  return task.attempts > 1 ? `#${task.attempts}` : "";
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
  if (graph.isError) return <ErrorView error={graph.error} retry={() => void graph.refetch()} />;
  if (graph.isPending || layout.isPending) return <SkeletonRows />;
  return (
    <GraphView
      name={workflow}
      tasks={graph.data.tasks}
      places={layout.data?.tasks}
      states={states}
      chosen={search.task}
      onChoose={choose}
      problems={search.problems === "1"}
      onProblems={(on) => set({ problems: on ? "1" : undefined }, true)}
    />
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
}

function Panel({ instance, task, name, search, set, onIntent }: PanelProps) {
  const attempts = useQuery(attemptsQuery(instance.id, name));
  const close = () => set({ task: undefined, panel: undefined, attempt: undefined, line: undefined });
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
    />
  );
}
