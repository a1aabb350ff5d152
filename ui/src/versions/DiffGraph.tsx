import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { layoutQuery } from "../api/queries";
import type { components } from "../api/schema";
import { GraphView } from "../graph/GraphView";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { joined } from "./joined";
import { shapeQuery } from "./queries";

type Diff = components["schemas"]["Diff"];

interface Props {
  project: string;
  workflow: string;
  from: string;
  to: string;
  diff: Diff;
}

/** DiffGraph draws both versions as one graph: what was added, what is gone, what has changed. */
export function DiffGraph({ project, workflow, from, to, diff }: Props) {
  const { t } = useSay();
  const before = useQuery(shapeQuery(project, workflow, from));
  const after = useQuery({ ...shapeQuery(project, workflow, to), enabled: to !== "draft" });
  const layout = useQuery(layoutQuery(project, workflow));
  const tasks = useMemo(() => before.data && joined(before.data.tasks, diff, after.data?.tasks), [before.data, after.data, diff]);
  const failed = before.error ?? after.error;
  if (failed) return <ErrorView error={failed} />;
  if (!tasks || (to !== "draft" && after.isPending) || layout.isPending) return <SkeletonRows />;
  return (
    <>
      <p className="faint">{t("versions.graphNote")}</p>
      <div className="graph-box">
        <GraphView name={workflow} tasks={tasks} places={layout.data?.tasks} />
      </div>
    </>
  );
}
