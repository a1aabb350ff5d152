import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import { useFresh } from "../account/useFresh";
import { type Lineage, lineageQuery } from "../api/lineage";
import { projectsQuery } from "../api/queries";
import { keyOf, labelsOf, nodesOf } from "../domain/lineage";
import { useSay } from "../i18n";
import { EdgeTable } from "../lineage/EdgeTable";
import { Chosen } from "../lineage/Ways";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { piece } from "../parts/piece";
import { useStay } from "../parts/useStay";
import type { LineageSearch } from "../searchPages";
import "../account/account.css";
import "../lineage/lineage.css";

const GraphView = piece(() => import("../graph/GraphView").then((m) => m.GraphView));
const route = getRouteApi("/lineage");

/** LineagePage is which workflows wait for which and start which, with what each did last. */
export function LineagePage() {
  const { t } = useSay();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const projects = useQuery(projectsQuery);
  const lineage = useQuery(lineageQuery(search.project));
  useFresh("lineage");
  const set = (part: LineageSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  return (
    <div className="page fill">
      <div className="title-row">
        <h1>{t("lineage.title")}</h1>
        <span className="faint">{t("lineage.about")}</span>
      </div>
      <div className="filters">
        <Select
          data-filter
          aria-label={t("lineage.project")}
          placeholder={t("lineage.project")}
          data={projects.data?.map((p) => p.name) ?? []}
          value={search.project ?? null}
          onChange={(v) => set({ project: v ?? undefined, at: undefined }, true)}
          clearable
          searchable
          clearButtonProps={{ "aria-label": t("common.clear") }}
        />
        <SegmentedControl
          aria-label={t("lineage.title")}
          data={[
            { value: "graph", label: t("run.graph") },
            { value: "list", label: t("lineage.list") },
          ]}
          value={search.as ?? "graph"}
          onChange={(v) => set({ as: v === "list" ? "list" : undefined }, true)}
        />
      </div>
      {lineage.isError ? (
        <ErrorView error={lineage.error} retry={() => void lineage.refetch()} />
      ) : lineage.isPending ? (
        <SkeletonRows rows={6} />
      ) : lineage.data.edges.length === 0 ? (
        <div className="empty">
          <h2>{t("lineage.emptyTitle")}</h2>
          <p className="about">{t("lineage.empty")}</p>
        </div>
      ) : (
        <>
          {lineage.data.cut && <p className="warning">{t("lineage.cut")}</p>}
          {search.as === "list" ? (
            <EdgeTable lineage={lineage.data} />
          ) : (
            <Drawn lineage={lineage.data} at={search.at} onChoose={(at) => set({ at })} />
          )}
        </>
      )}
    </div>
  );
}

function Drawn({ lineage, at, onChoose }: { lineage: Lineage; at: string | undefined; onChoose: (at: string) => void }) {
  const { t } = useSay();
  // The graph stays where it is while only states change: its nodes are told by what ties them.
  const labels = labelsOf(lineage);
  const ties = JSON.stringify([labels, lineage.edges.map((e) => [e.from, e.to])]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the ties stand for what is read of it
  const nodes = useMemo(() => nodesOf(lineage), [ties]);
  const states = new Map(lineage.workflows.flatMap((w, i) => (w.last ? [[labels[i] ?? "", { state: w.last.state }] as const] : [])));
  const keyAt = (label: string) => lineage.workflows[labels.indexOf(label)];
  const chosen = labels[lineage.workflows.findIndex((w) => keyOf(w) === at)];
  const choose = (label: string) => {
    const w = keyAt(label);
    if (w) onChoose(keyOf(w));
  };
  return (
    <div className="lineage">
      <Suspense fallback={<SkeletonRows rows={6} />}>
        <GraphView key={ties} name={t("lineage.title")} tasks={nodes} states={states} chosen={chosen} onChoose={choose} />
      </Suspense>
      <aside>
        <Chosen lineage={lineage} name={at ?? ""} onChoose={onChoose} />
      </aside>
    </div>
  );
}
