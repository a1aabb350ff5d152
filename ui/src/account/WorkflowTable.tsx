import { Link, useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Play } from "lucide-react";
import { useEffect, useRef } from "react";
import type { WorkflowOverview } from "../api/account";
import { useSay, word } from "../i18n";
import { RowMenu } from "../parts/RowMenu";
import { StateIcon } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import { useSettings } from "../settings";
import { useWhyNot } from "../shell/me";

export interface RowCalls {
  onCopy: (name: string) => void;
  onExport: (name: string) => void;
  onDelete: (name: string) => void;
}

/** Strip is the last instances of a workflow, the newest at the right. */
export function Strip({ project, last }: { project: string; last: WorkflowOverview["last"] }) {
  const { t } = useSay();
  if (last.length === 0) return <span className="faint">{t("workflows.never")}</span>;
  return (
    <span className="strip">
      {[...last].reverse().map((i) => {
        const label = `${i.id} ${word(t, "state", i.state)}`;
        return (
          <Link key={i.id} to="/p/$project/r/$id" params={{ project, id: i.id }} title={label}>
            <StateIcon state={i.state} label={label} />
          </Link>
        );
      })}
    </span>
  );
}

/** Standing says which version runs, and what of it does not yet. */
function Standing({ w }: { w: WorkflowOverview }) {
  const { t } = useSay();
  return (
    <>
      {w.published > 0 ? t("common.version", { n: w.published }) : t("workflows.notPublished")}
      {w.published > 0 && w.latest > w.published && (
        <span className="tag" title={t("account.workflows.behind", { latest: w.latest })}>
          {t("common.version", { n: w.latest })}
        </span>
      )}
      {w.draft_revision > 0 && <span className="tag">{t("account.workflows.draft")}</span>}
    </>
  );
}

function Row({ w, style, ...calls }: { w: WorkflowOverview; style: React.CSSProperties } & RowCalls) {
  const { t } = useSay();
  const go = useNavigate();
  const why = useWhyNot(w.project);
  const at = { project: w.project, workflow: w.name };
  const edits = why("editor");
  const runs = why("operator");
  return (
    <div className="tr" role="row" style={style} data-workflow={w.name}>
      <span role="cell" className="c-name">
        <Link to="/p/$project/w/$workflow" params={at}>
          {w.name}
        </Link>
        <span className="faint">{w.description}</span>
      </span>
      <span role="cell" className="num">
        <Standing w={w} />
      </span>
      <span role="cell">
        <Strip project={w.project} last={w.last} />
      </span>
      <span role="cell" className="faint">
        <Ago at={w.updated_at} />
      </span>
      <span role="cell" className="faint">
        {w.changed_by}
      </span>
      <span role="cell" className="c-do">
        {runs === undefined && w.published > 0 && (
          <Link
            to="/p/$project/w/$workflow"
            params={at}
            search={{ start: "1" }}
            className="button-link"
            aria-label={`${t("hub.start")} ${w.name}`}
          >
            <Play size={13} aria-hidden="true" /> {t("hub.start")}
          </Link>
        )}
        <RowMenu
          label={t("account.projects.more", { name: w.name })}
          actions={[
            ...(runs === undefined ? [] : [{ label: t("hub.start"), run: () => undefined, why: runs }]),
            { label: t("account.workflows.edit"), run: () => void go({ to: "/p/$project/w/$workflow/edit", params: at }), why: edits },
            { label: t("account.workflows.copy"), run: () => calls.onCopy(w.name), why: edits },
            { label: t("account.workflows.export"), run: () => calls.onExport(w.name) },
            { label: t("account.workflows.delete"), run: () => calls.onDelete(w.name), why: edits },
          ]}
        />
      </span>
    </div>
  );
}

/** WorkflowTable keeps only the rows in sight in the page. */
export function WorkflowTable({ list, ...calls }: { list: WorkflowOverview[] } & RowCalls) {
  const { t } = useSay();
  const { density } = useSettings();
  const scroller = useRef<HTMLDivElement>(null);
  const size = density === "comfortable" ? 40 : 32;
  const rows = useVirtualizer({ count: list.length, getScrollElement: () => scroller.current, estimateSize: () => size, overscan: 8 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density has other rows
  useEffect(() => rows.measure(), [rows, size]);
  const column = (name: string) => <span role="columnheader">{name}</span>;
  return (
    <div
      className="table endless workflow-list"
      role="table"
      aria-label={t("account.workflows.table")}
      aria-rowcount={list.length + 1}
      ref={scroller}
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky">
        <div className="tr th" role="row">
          {column(t("workflows.name"))}
          {column(t("account.workflows.state"))}
          {column(t("workflows.last"))}
          {column(t("workflows.updated"))}
          {column(t("account.workflows.by"))}
          <span role="columnheader">
            <span className="unseen">{t("common.more")}</span>
          </span>
        </div>
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((v) => {
          const w = list[v.index];
          return w && <Row key={w.id} w={w} style={{ position: "absolute", top: v.start, left: 0, right: 0 }} {...calls} />;
        })}
      </div>
    </div>
  );
}
