import { Button, Tabs } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Pencil, Play } from "lucide-react";
import { Suspense, useState } from "react";
import { gridOf, gridQuery } from "../api/grid";
import { graphQuery, instancesQuery, layoutQuery, versionQuery, workflowQuery } from "../api/queries";
import { useRules } from "../graph/useRules";
import { GridPanel } from "../grid/panel";
import { useSay } from "../i18n";
import { Crumbs } from "../parts/Crumbs";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { InstanceTable } from "../parts/InstanceTable";
import { Later } from "../parts/Later";
import { piece } from "../parts/piece";
import { StartDialog } from "../parts/StartDialog";
import { useStay } from "../parts/useStay";
import { hubTabs } from "../search";
import type { WorkflowSearch } from "../searchSchedule";
import { useWhyNot } from "../shell/me";
import { VersionsTab } from "../versions/VersionsTab";

const GraphView = piece(() => import("../graph/GraphView").then((m) => m.GraphView));
const SchedulesPanel = piece(() => import("../schedule/SchedulesPanel").then((m) => m.SchedulesPanel));
const BackfillsPanel = piece(() => import("../backfill/BackfillsPanel").then((m) => m.BackfillsPanel));
const BackfillBanner = piece(() => import("../backfill/BackfillBanner").then((m) => m.BackfillBanner));
const route = getRouteApi("/p/$project/w/$workflow");
const words = {
  overview: "hub.overview",
  grid: "hub.grid",
  runs: "hub.runs",
  schedules: "hub.schedules",
  backfills: "hub.backfills",
  versions: "hub.versions",
  definition: "hub.definition",
} as const;

/** left is what belongs to one tab alone: another one begins without it. */
const left: WorkflowSearch = {
  new: undefined,
  id: undefined,
  do: undefined,
  q: undefined,
  by: undefined,
  first: undefined,
  last: undefined,
  down: undefined,
  task: undefined,
  run: undefined,
  panel: undefined,
  attempt: undefined,
  line: undefined,
  full: undefined,
  cells: undefined,
};

/** useFirstTab is where a workflow opens: on its grid once it has run, else on its graph. It is decided once per workflow,
 * since a page must not turn while somebody reads it. */
function useFirstTab(project: string, workflow: string, open: boolean): "grid" | "overview" | undefined {
  const grid = useQuery({ ...gridQuery(gridOf(project, workflow, {})), enabled: open });
  const [decided, decide] = useState<{ of: string; tab: "grid" | "overview" }>();
  const of = `${project}/${workflow}`;
  if (decided?.of === of) return decided.tab;
  if (!open || (!grid.data && !grid.isError)) return undefined;
  const tab = grid.data && grid.data.columns.length > 0 ? "grid" : "overview";
  decide({ of, tab });
  return tab;
}

export function WorkflowPage() {
  const { t } = useSay();
  const { project, workflow: name } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const workflow = useQuery(workflowQuery(project, name));
  const why = useWhyNot(project);
  const first = useFirstTab(project, name, search.tab === undefined);
  const set = (part: WorkflowSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  if (workflow.isError) return <ErrorView error={workflow.error} retry={() => void workflow.refetch()} />;
  if (workflow.isPending) return <SkeletonRows />;
  const w = workflow.data;
  const version = search.v ? Number(search.v) : w.published || w.latest;
  const [runs, edits] = [why("operator"), why("editor")];
  const tab = search.tab ?? first ?? null;
  return (
    <div className="page fill">
      <Crumbs project={project} />
      <div className="title-row">
        <h1>{w.name}</h1>
        <span className="faint num">{w.published > 0 ? t("common.version", { n: w.published }) : t("workflows.notPublished")}</span>
        <span className="push" />
        {edits === undefined ? (
          <Button
            variant="default"
            leftSection={<Pencil size={14} />}
            renderRoot={(props) => <Link {...props} to="/p/$project/w/$workflow/edit" params={{ project, workflow: name }} />}
          >
            {t("hub.edit")}
          </Button>
        ) : (
          <Guarded variant="default" leftSection={<Pencil size={14} />} why={edits}>
            {t("hub.edit")}
          </Guarded>
        )}
        <Guarded
          leftSection={<Play size={14} />}
          onClick={() => set({ start: "1" })}
          why={runs ?? (version === 0 ? t("hub.nothingSaved") : undefined)}
        >
          {t("hub.start")}
        </Guarded>
      </div>
      {w.description && <p className="about">{w.description}</p>}
      {w.active_backfill && tab !== "backfills" && (
        <Suspense>
          <BackfillBanner of={{ project, workflow: name }} id={w.active_backfill} />
        </Suspense>
      )}
      <Tabs value={tab} onChange={(v) => set({ ...left, tab: hubTabs.find((x) => x === v) })} keepMounted={false} className="tabs">
        <Tabs.List aria-label={w.name}>
          {hubTabs.map((x) => (
            <Tabs.Tab key={x} value={x}>
              {t(words[x])}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="overview">
          <Drawing project={project} workflow={name} version={version} />
        </Tabs.Panel>
        {tab === null && <SkeletonRows rows={8} />}
        <Tabs.Panel value="grid">
          <Suspense fallback={<SkeletonRows rows={8} />}>
            <GridPanel key={`${project} ${name}`} project={project} workflow={name} search={search} set={set} why={runs} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="runs">
          <Instances project={project} workflow={name} />
        </Tabs.Panel>
        <Tabs.Panel value="schedules">
          <Suspense fallback={<SkeletonRows />}>
            <SchedulesPanel project={project} workflow={name} search={search} set={set} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="backfills">
          <Suspense fallback={<SkeletonRows />}>
            <BackfillsPanel project={project} workflow={name} search={search} set={set} />
          </Suspense>
        </Tabs.Panel>
        <Tabs.Panel value="versions">
          <VersionsTab project={project} workflow={name} latest={w.latest} draft={w.draft_revision > 0} mayEdit={edits === undefined} />
        </Tabs.Panel>
        <Tabs.Panel value="definition">
          <Definition project={project} workflow={name} version={version} />
        </Tabs.Panel>
      </Tabs>
      <Later>
        <StartDialog
          workflow={w}
          version={version}
          opened={search.start === "1" && runs === undefined}
          onClose={() => set({ start: undefined }, true)}
        />
      </Later>
    </div>
  );
}

interface Of {
  project: string;
  workflow: string;
}

function Drawing({ project, workflow, version }: Of & { version: number }) {
  const graph = useQuery({ ...graphQuery(project, workflow, version), enabled: version > 0 });
  const layout = useQuery(layoutQuery(project, workflow));
  const rules = useRules(project, workflow, version);
  if (graph.isError) return <ErrorView error={graph.error} retry={() => void graph.refetch()} />;
  if (graph.isPending || layout.isPending) return <SkeletonRows />;
  return (
    <div className="graph-box">
      <Suspense fallback={<SkeletonRows />}>
        <GraphView name={workflow} tasks={graph.data.tasks} places={layout.data?.tasks} rules={rules} />
      </Suspense>
    </div>
  );
}

function Instances({ project, workflow }: Of) {
  const { t } = useSay();
  const list = useInfiniteQuery(instancesQuery({ project, workflow, outline: true }, 50));
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  if (list.isError) return <ErrorView error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <SkeletonRows />;
  if (items.length === 0) return <p className="empty">{t("hub.neverRun")}</p>;
  return (
    <>
      <InstanceTable items={items} label={t("hub.runs")} showProject={false} />
      {list.hasNextPage && (
        <Link to="/runs" search={{ project, workflow, span: "any" }}>
          {t("today.more")}
        </Link>
      )}
    </>
  );
}

function Definition({ project, workflow, version }: Of & { version: number }) {
  const { t } = useSay();
  const text = useQuery({ ...versionQuery(project, workflow, version), enabled: version > 0 });
  if (text.isError) return <ErrorView error={text.error} retry={() => void text.refetch()} />;
  if (text.isPending) return <SkeletonRows />;
  return (
    <pre className="definition" role="region" tabIndex={0} aria-label={t("hub.definition")}>
      {text.data.text}
    </pre>
  );
}
