import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useFresh } from "../account/useFresh";
import { projectBackfillsQuery } from "../api/backfills";
import { BackfillTable } from "../backfill/BackfillsPanel";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { ProjectNav } from "../parts/ProjectNav";

const route = getRouteApi("/p/$project/backfills");

/** BackfillsPage lists the backfills of all workflows of a project. They are started and acted on at their workflow. */
export function BackfillsPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const list = useInfiniteQuery(projectBackfillsQuery(project));
  useFresh("backfills");
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <div className="page">
      <ProjectNav project={project} />
      <div className="title-row">
        <h1>{t("backfills.titleOf", { project })}</h1>
      </div>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <div className="empty">
          <h2>{t("backfills.emptyTitle")}</h2>
          <p>{t("backfills.empty")}</p>
          <p>{t("backfills.emptyProject")}</p>
        </div>
      ) : (
        <BackfillTable rows={rows} />
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("backfills.more")}
        </Button>
      )}
    </div>
  );
}
