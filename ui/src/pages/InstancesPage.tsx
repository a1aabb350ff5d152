import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { countsQuery, instancesQuery, projectsQuery, workflowsQuery } from "../api/queries";
import { instanceStates } from "../domain/states";
import { useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { EndlessInstances } from "../parts/InstanceTable";
import { StateIcon } from "../parts/StateIcon";
import { type InstancesSearch, type Span, spans } from "../search";

const route = getRouteApi("/runs");
const spanMs: Record<Span, number> = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, any: 0 };
const spanWords = { "1h": "runs.last1h", "24h": "runs.last24h", "7d": "runs.last7d", any: "runs.anyTime" } as const;

/** since is rounded to the minute, so that the same page asks the same question. */
function since(span: Span, now: number): string | undefined {
  if (span === "any") return undefined;
  return new Date(Math.floor((now - spanMs[span]) / 60_000) * 60_000).toISOString();
}

export function InstancesPage() {
  const { t } = useSay();
  const search = route.useSearch();
  const go = route.useNavigate();
  const now = useNow(false);
  const span = search.span ?? "24h";
  const minute = Math.floor(now / 60_000);
  const scope = useMemo(
    () => ({ project: search.project, workflow: search.project ? search.workflow : undefined, from: since(span, minute * 60_000) }),
    [search.project, search.workflow, span, minute],
  );
  const list = useInfiniteQuery(instancesQuery({ ...scope, state: search.st }));
  const counts = useQuery(countsQuery(scope));
  const projects = useQuery(projectsQuery);
  const workflows = useQuery({ ...workflowsQuery(search.project ?? ""), enabled: search.project !== undefined });
  const items = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const fetchMore = list.fetchNextPage;
  const onMore = useCallback(() => void fetchMore(), [fetchMore]);
  const chosen = search.st?.split(",") ?? [];
  const filter = (part: InstancesSearch) => void go({ search: (s) => ({ ...s, ...part }), replace: true });
  const toggle = (state: string) => {
    const next = chosen.includes(state) ? chosen.filter((s) => s !== state) : [...chosen, state];
    filter({ st: next.join(",") || undefined });
  };
  const count = (state: string) => counts.data?.states[state] ?? 0;
  const shown = instanceStates.filter((s) => count(s) > 0 || chosen.includes(s));
  const hiding = [
    ...chosen.map((s) => word(t, "state", s)),
    ...(search.project ? [search.project] : []),
    ...(search.workflow ? [search.workflow] : []),
    ...(span !== "any" ? [t(spanWords[span])] : []),
  ];
  return (
    <div className="page fill">
      <h1>{t("runs.title")}</h1>
      <div className="filters">
        <Select
          data-filter
          aria-label={t("runs.filterProject")}
          placeholder={t("runs.filterProject")}
          data={projects.data?.map((p) => p.name) ?? []}
          value={search.project ?? null}
          onChange={(v) => filter({ project: v ?? undefined, workflow: undefined })}
          clearable
          searchable
          clearButtonProps={{ "aria-label": t("common.clear") }}
        />
        <Select
          aria-label={t("runs.filterWorkflow")}
          placeholder={t("runs.filterWorkflow")}
          data={workflows.data?.map((w) => w.name) ?? []}
          value={search.workflow ?? null}
          onChange={(v) => filter({ workflow: v ?? undefined })}
          disabled={!search.project}
          clearable
          searchable
          clearButtonProps={{ "aria-label": t("common.clear") }}
        />
        <Select
          aria-label={t("runs.filterTime")}
          data={spans.map((s) => ({ value: s, label: t(spanWords[s]) }))}
          value={span}
          onChange={(v) => filter({ span: spans.find((s) => s === v) })}
        />
        <fieldset className="counts" aria-label={t("runs.state")}>
          {shown.map((s) => (
            <button key={s} type="button" aria-pressed={chosen.includes(s)} onClick={() => toggle(s)}>
              <StateIcon state={s} />
              {word(t, "state", s)}
              <b className="num">{count(s) >= (counts.data?.at_most ?? Number.POSITIVE_INFINITY) ? `${count(s)}+` : count(s)}</b>
            </button>
          ))}
        </fieldset>
        {(chosen.length > 0 || search.project) && (
          <Button variant="subtle" onClick={() => void go({ search: {}, replace: true })}>
            {t("common.clear")}
          </Button>
        )}
      </div>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={8} />
      ) : items.length === 0 ? (
        <div className="empty">
          <p>{t("runs.empty")}</p>
          {hiding.length > 0 && <p className="faint">{t("runs.emptyFilters", { filters: hiding.join(", ") })}</p>}
          {span !== "any" && span !== "7d" && (
            <Button variant="default" onClick={() => filter({ span: "7d" })}>
              {t("runs.widen")}
            </Button>
          )}
        </div>
      ) : (
        <>
          <EndlessInstances
            items={items}
            label={t("runs.title")}
            more={list.hasNextPage}
            loading={list.isFetchingNextPage}
            onMore={onMore}
          />
          <p className="faint meta">
            {list.hasNextPage ? t("runs.shownMore", { count: items.length }) : t("runs.shown", { count: items.length })}
          </p>
        </>
      )}
    </div>
  );
}
