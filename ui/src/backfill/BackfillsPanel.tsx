import { Button } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { useFresh } from "../account/useFresh";
import { type Backfill, backfillsQuery } from "../api/backfills";
import { workflowQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { StateWord } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import type { SchedulesSearch } from "../searchSchedule";
import { useWhyNot } from "../shell/me";
import { BackfillDialog } from "./BackfillDialog";
import { BackfillDrawer } from "./BackfillDrawer";
import { Bar } from "./Bar";
import { rangeOf } from "./range";
import "../account/account.css";
import "./backfill.css";

interface Props {
  project: string;
  workflow: string;
  search: BackfillsSearch;
  set: (part: BackfillsSearch, replace?: boolean) => void;
}

type BackfillsSearch = Pick<SchedulesSearch, "new" | "id" | "by" | "first" | "last" | "down">;
/** asked is nothing of a new one any more. */
const asked: BackfillsSearch = { new: undefined, by: undefined, first: undefined, last: undefined, down: undefined };

/** BackfillsPanel lists a workflow's backfills with how far each is, and starts new ones. */
export function BackfillsPanel({ project, workflow, search, set }: Props) {
  const { t } = useSay();
  const of = { project, workflow };
  const list = useInfiniteQuery(backfillsQuery(of));
  const published = useQuery(workflowQuery(project, workflow)).data?.published;
  const role = useWhyNot(project)("operator");
  const why = role ?? (published === 0 ? t("backfills.unpublished") : undefined);
  useFresh("backfills");
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  const create = (
    <Guarded leftSection={<Plus size={14} />} why={why} onClick={() => set({ new: "1" })}>
      {t("backfills.new")}
    </Guarded>
  );
  return (
    <div className="backfills">
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <div className="empty">
          <h2>{t("backfills.emptyTitle")}</h2>
          <p>{t("backfills.empty")}</p>
          <div>{create}</div>
        </div>
      ) : (
        <>
          <div className="list-tools">
            <span className="push">{create}</span>
          </div>
          <BackfillTable rows={rows} onOpen={(id) => set({ id })} />
          {list.hasNextPage && (
            <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {t("backfills.more")}
            </Button>
          )}
        </>
      )}
      <BackfillDialog
        of={of}
        opened={search.new === "1" && why === undefined}
        by={search.by}
        from={search.first}
        to={search.last}
        downstream={search.down === "1"}
        onClose={() => set(asked, true)}
        onStarted={(id) => set({ ...asked, id }, true)}
      />
      <BackfillDrawer of={of} id={search.id} onClose={() => set({ id: undefined }, true)} />
    </div>
  );
}

interface TableProps {
  rows: Backfill[];
  onOpen?: (id: string) => void; // without it each leads to its workflow
}

/** BackfillTable lists backfills with how far each is; those of several workflows with the workflow. */
export function BackfillTable({ rows, onOpen }: TableProps) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("backfills.table")}>
      <table className="plain backfill-table">
        <thead>
          <tr>
            <th>{t("backfills.id")}</th>
            {!onOpen && <th>{t("schedules.workflow")}</th>}
            <th>{t("backfills.state")}</th>
            <th>{t("backfills.progress")}</th>
            <th>{t("backfills.range")}</th>
            <th>{t("backfills.created")}</th>
            <th>{t("backfills.by")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((b) => (
            <tr key={b.id} data-backfill={b.id}>
              <td>
                {onOpen ? (
                  <button type="button" className="link mono" onClick={() => onOpen(b.id)}>
                    {b.id}
                  </button>
                ) : (
                  <Link to="/p/$project/w/$workflow" params={b} search={{ tab: "backfills", id: b.id }} className="mono">
                    {b.id}
                  </Link>
                )}
              </td>
              {!onOpen && (
                <td>
                  <Link to="/p/$project/w/$workflow" params={b} search={{ tab: "backfills" }}>
                    {b.workflow}
                  </Link>
                </td>
              )}
              <td>
                <StateWord state={b.state} size={14} />
              </td>
              <td>
                <Bar b={b} />
              </td>
              <td className="num">{rangeOf(t, b)}</td>
              <td className="faint">
                <Ago at={b.created_at} />
              </td>
              <td className="faint">{b.created_by}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
