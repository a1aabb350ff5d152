import { Button, SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { ArrowLeft } from "lucide-react";
import { Suspense } from "react";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { piece } from "../parts/piece";
import { useStay } from "../parts/useStay";
import { diffViews } from "../search";
import { DiffList } from "./DiffList";
import { nameOf } from "./name";
import { diffQuery, textQuery } from "./queries";

const DiffGraph = piece(() => import("./DiffGraph").then((m) => m.DiffGraph));
const DiffText = piece(() => import("../editor/code/EditorCode").then((m) => m.DiffText));
const route = getRouteApi("/p/$project/w/$workflow");
const words = { fields: "versions.asFields", graph: "versions.asGraph", text: "versions.asText" } as const;

interface Props {
  project: string;
  workflow: string;
  from: string;
  to: string;
}

/** DiffView shows what differs between two versions: as a list, as a graph and as text. */
export function DiffView({ project, workflow, from, to }: Props) {
  const { t } = useSay();
  const go = useStay(route.useNavigate());
  const { as = "fields" } = route.useSearch();
  const diff = useQuery(diffQuery(project, workflow, from, to));
  return (
    <section className="diff" aria-label={t("versions.compare")}>
      <div className="versions-head">
        <Button
          variant="subtle"
          color="ink"
          leftSection={<ArrowLeft size={14} />}
          onClick={() => void go({ search: (s) => ({ ...s, from: undefined, to: undefined, as: undefined }) })}
        >
          {t("versions.all")}
        </Button>
        <h2>{t("versions.changes", { from: nameOf(from, t("versions.draft")), to: nameOf(to, t("versions.draft")) })}</h2>
        <SegmentedControl
          aria-label={t("editor.view")}
          data={diffViews.map((v) => ({ value: v, label: t(words[v]) }))}
          value={as}
          onChange={(v) => void go({ search: (s) => ({ ...s, as: diffViews.find((x) => x === v) }), replace: true })}
        />
      </div>
      {as === "text" ? (
        <Texts {...{ project, workflow, from, to }} />
      ) : diff.isError ? (
        <ErrorView error={diff.error} retry={() => void diff.refetch()} />
      ) : diff.isPending ? (
        <SkeletonRows />
      ) : as === "graph" ? (
        <Suspense fallback={<SkeletonRows />}>
          <DiffGraph {...{ project, workflow, from, to }} diff={diff.data} />
        </Suspense>
      ) : (
        <DiffList diff={diff.data} />
      )}
    </section>
  );
}

function Texts({ project, workflow, from, to }: Props) {
  const { t } = useSay();
  const before = useQuery(textQuery(project, workflow, from));
  const after = useQuery(textQuery(project, workflow, to));
  const failed = before.error ?? after.error;
  if (failed) return <ErrorView error={failed} />;
  if (before.data === undefined || after.data === undefined) return <SkeletonRows />;
  if (before.data === after.data) return <p className="empty">{t("versions.same")}</p>;
  return (
    <Suspense fallback={<SkeletonRows />}>
      <DiffText before={before.data} after={after.data} label={t("versions.asText")} />
    </Suspense>
  );
}
