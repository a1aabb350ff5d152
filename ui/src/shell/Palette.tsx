import { Spotlight, type SpotlightActionGroupData, useSpotlight } from "@mantine/spotlight";
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import type { Project } from "../api/client";
import { instancesQuery, projectsQuery, workflowsQuery } from "../api/queries";
import { schedulesQuery } from "../api/schedules";
import { liveTasksQuery } from "../api/tasks";
import { timerNamesQuery } from "../api/timers";
import { may } from "../domain/rights";
import { useSay } from "../i18n";
import { StateIcon } from "../parts/StateIcon";
import { useMe } from "./me";
import { paletteStore, takeKeys } from "./openPalette";

/** maxProjects bounds whose workflows and timers the palette asks for. */
const maxProjects = 20;

/** Palette finds pages, workflows, instances, tasks, schedules, timers and actions; what it lists is read when it opens. */
export function Palette({ onKeys }: { onKeys: () => void }) {
  const { t } = useSay();
  const { opened: open } = useSpotlight(paletteStore);
  const [text, setText] = useState("");
  useEffect(() => {
    takeKeys((key) => setText((before) => before + key));
    return () => takeKeys(undefined);
  }, []);
  const projects = useQuery({ ...projectsQuery, enabled: open });
  const shown = (projects.data ?? []).slice(0, maxProjects);
  const pages = usePages(shown);
  const flows = useWorkflows(shown, open);
  const instances = useInstances(open, text);
  const tasks = useTasks(open);
  const moments = useMoments(shown, open);
  const actions = useActions(shown, flows.list, onKeys);
  return (
    <Spotlight
      store={paletteStore}
      actions={[pages, flows.group, instances, tasks, ...moments, actions]}
      shortcut={null}
      query={text}
      onQueryChange={setText}
      nothingFound={t("palette.nothing")}
      highlightQuery
      scrollable
      maxHeight={420}
      limit={30}
      lockScroll={false}
      transitionProps={{ duration: 120 }}
      searchProps={{ placeholder: t("palette.placeholder"), "aria-label": t("palette.placeholder"), leftSection: <Search size={16} /> }}
    />
  );
}

const pagesOfAll = [
  { to: "/", label: "nav.today" },
  { to: "/runs", label: "nav.runs" },
  { to: "/tasks", label: "nav.tasks" },
  { to: "/approvals", label: "nav.approvals" },
  { to: "/schedules", label: "nav.schedules" },
  { to: "/lineage", label: "nav.lineage" },
  { to: "/alerts", label: "nav.alerts" },
  { to: "/resources", label: "nav.resources" },
  { to: "/projects", label: "nav.projects" },
  { to: "/cluster", label: "nav.cluster" },
  { to: "/admin", label: "nav.admin" },
  { to: "/profile", label: "account.profile.menu" },
] as const;

const pagesOfProject = [
  { to: "/p/$project/workflows", label: "nav.workflows" },
  { to: "/p/$project/schedules", label: "schedules.title" },
  { to: "/p/$project/backfills", label: "schedules.backfills" },
  { to: "/p/$project/timers", label: "timers.title" },
  { to: "/p/$project/listeners", label: "listeners.title" },
  { to: "/p/$project/settings", label: "nav.settings" },
  { to: "/p/$project/members", label: "account.projects.members" },
] as const;

function usePages(projects: Project[]): SpotlightActionGroupData {
  const { t } = useSay();
  const go = useNavigate();
  return {
    group: t("palette.pages"),
    actions: [
      ...pagesOfAll.map(({ to, label }) => ({ id: to, label: t(label), onClick: () => void go({ to }) })),
      ...projects.flatMap((p) =>
        pagesOfProject.map(({ to, label }) => ({
          id: `${to} ${p.name}`,
          label: t("palette.pageOf", { page: t(label), project: p.name }),
          onClick: () => void go({ to, params: { project: p.name } }),
        })),
      ),
    ],
  };
}

interface Flow {
  project: string;
  name: string;
}

function useWorkflows(projects: Project[], open: boolean): { group: SpotlightActionGroupData; list: Flow[] } {
  const { t } = useSay();
  const go = useNavigate();
  const workflows = useQueries({ queries: projects.map((p) => ({ ...workflowsQuery(p.name), enabled: open })) });
  const list = workflows.flatMap((q) => q.data ?? []);
  return {
    list,
    group: {
      group: t("palette.workflows"),
      actions: list.map((w) => ({
        id: `w ${w.project}/${w.name}`,
        label: w.name,
        description: w.project,
        onClick: () => void go({ to: "/p/$project/w/$workflow", params: { project: w.project, workflow: w.name } }),
      })),
    },
  };
}

function useInstances(open: boolean, text: string): SpotlightActionGroupData {
  const { t } = useSay();
  const go = useNavigate();
  const latest = useInfiniteQuery({ ...instancesQuery({}, 20), enabled: open });
  const known = latest.data?.pages.flatMap((p) => p.items) ?? [];
  const actions = known.map((i) => ({
    id: `i ${i.id}`,
    label: `${i.workflow} ${i.id}`,
    description: i.project,
    leftSection: <StateIcon state={i.state} />,
    onClick: () => void go({ to: "/p/$project/r/$id", params: { project: i.project, id: i.id } }),
  }));
  if (!/^[1-9]\d{0,18}$/.test(text) || known.some((i) => i.id === text)) return { group: t("palette.instances"), actions };
  const asked = {
    id: `i ${text}`,
    label: t("palette.instance", { id: text }),
    onClick: () => void go({ to: "/p/$project/r/$id", params: { project: "-", id: text } }),
  };
  return { group: t("palette.instances"), actions: [...actions, asked] };
}

function useTasks(open: boolean): SpotlightActionGroupData {
  const { t } = useSay();
  const go = useNavigate();
  const running = useInfiniteQuery({ ...liveTasksQuery({ is: "running" }, 20), enabled: open });
  const waiting = useInfiniteQuery({ ...liveTasksQuery({ is: "waiting" }, 20), enabled: open });
  return {
    group: t("palette.tasks"),
    actions: [running, waiting]
      .flatMap((q) => q.data?.pages.flatMap((p) => p.items) ?? [])
      .map((x) => ({
        id: `t ${x.instance_id} ${x.task}`,
        label: `${x.task} ${x.instance_id}`,
        description: `${x.project} / ${x.workflow}`,
        leftSection: <StateIcon state={x.state} />,
        onClick: () => void go({ to: "/p/$project/r/$id", params: { project: x.project, id: x.instance_id }, search: { task: x.task } }),
      })),
  };
}

/** useMoments is what fires by itself: schedules of workflows, and timers. */
function useMoments(projects: Project[], open: boolean): SpotlightActionGroupData[] {
  const { t } = useSay();
  const go = useNavigate();
  const schedules = useQuery({ ...schedulesQuery(), enabled: open, refetchInterval: false });
  const timers = useQueries({ queries: projects.map((p) => ({ ...timerNamesQuery(p.name), enabled: open })) });
  return [
    {
      group: t("palette.schedules"),
      actions: (schedules.data ?? []).map((s) => ({
        id: `s ${s.id}`,
        label: s.name,
        description: `${s.project} / ${s.workflow}`,
        onClick: () =>
          void go({ to: "/p/$project/w/$workflow/s/$schedule", params: { project: s.project, workflow: s.workflow, schedule: s.name } }),
      })),
    },
    {
      group: t("palette.timers"),
      actions: timers
        .flatMap((q) => q.data ?? [])
        .map((x) => ({
          id: `timer ${x.id}`,
          label: x.name,
          description: x.app,
          onClick: () => void go({ to: "/p/$project/timers", params: { project: x.app }, search: { id: String(x.id) } }),
        })),
    },
  ];
}

function useActions(projects: Project[], flows: Flow[], onKeys: () => void): SpotlightActionGroupData {
  const { t } = useSay();
  const go = useNavigate();
  const me = useMe();
  const roles = new Map(projects.map((p) => [p.name, p.role]));
  const allowed = (project: string, need: "operator" | "editor") => may(roles.get(project) ?? "none", need);
  return {
    group: t("palette.actions"),
    actions: [
      ...flows
        .filter((w) => allowed(w.project, "operator"))
        .map((w) => ({
          id: `run ${w.project}/${w.name}`,
          label: t("palette.run", { workflow: w.name }),
          description: w.project,
          onClick: () =>
            void go({ to: "/p/$project/w/$workflow", params: { project: w.project, workflow: w.name }, search: { start: "1" } }),
        })),
      ...flows
        .filter((w) => allowed(w.project, "editor"))
        .map((w) => ({
          id: `edit ${w.project}/${w.name}`,
          label: t("palette.edit", { workflow: w.name }),
          description: w.project,
          onClick: () => void go({ to: "/p/$project/w/$workflow/edit", params: { project: w.project, workflow: w.name } }),
        })),
      ...projects
        .filter((p) => allowed(p.name, "editor"))
        .map(({ name: project }) => ({
          id: `new ${project}`,
          label: t("palette.newWorkflow", { project }),
          onClick: () => void go({ to: "/p/$project/workflows", params: { project }, search: { new: "1" } }),
        })),
      ...(me.admin
        ? [{ id: "new project", label: t("account.projects.new"), onClick: () => void go({ to: "/projects", search: { new: "1" } }) }]
        : []),
      { id: "keys", label: t("palette.keys"), onClick: onKeys },
    ],
  };
}
