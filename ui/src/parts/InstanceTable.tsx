import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { Instance } from "../api/client";
import { isLive } from "../domain/states";
import { useSay, word } from "../i18n";
import { useSettings } from "../settings";
import { StateWord } from "./StateIcon";
import { Moment, Took } from "./Times";

/** InstanceRow is one instance wherever instances are listed. */
function InstanceRow({ i, showProject, style }: { i: Instance; showProject: boolean; style?: React.CSSProperties }) {
  const { t } = useSay();
  return (
    <div className="tr" role="row" style={style} data-instance={i.id}>
      <span role="cell" className="c-state">
        <StateWord state={i.state} />
      </span>
      <span role="cell" className="c-name">
        <Link to="/p/$project/r/$id" params={{ project: i.project, id: i.id }}>
          {i.workflow}
        </Link>
      </span>
      <span role="cell" className="c-id mono num">
        {i.id}
      </span>
      {showProject && (
        <span role="cell" className="c-project faint">
          {i.project}
        </span>
      )}
      <span role="cell" className="c-time num">
        <Moment at={i.created_at} />
      </span>
      <span role="cell" className="c-took num">
        <Took from={i.started_at} to={i.finished_at} live={isLive(i.state)} />
      </span>
      <span role="cell" className="c-version num faint">
        {t("common.version", { n: i.version })}
      </span>
      <span role="cell" className="c-reason faint">
        {i.reason ? word(t, "reason", i.reason) : ""}
      </span>
      <span role="cell" className="c-by faint">
        {i.created_by}
      </span>
    </div>
  );
}

function Head({ showProject }: { showProject: boolean }) {
  const { t } = useSay();
  const column = (name: string, className: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <div className="tr th" role="row">
      {column(t("runs.state"), "c-state")}
      {column(t("runs.workflow"), "c-name")}
      {column(t("runs.id"), "c-id num")}
      {showProject && column(t("runs.project"), "c-project")}
      {column(t("runs.created"), "c-time num")}
      {column(t("runs.duration"), "c-took num")}
      {column(t("runs.version"), "c-version num")}
      {column(t("runs.reason"), "c-reason")}
      {column(t("runs.by"), "c-by")}
    </div>
  );
}

/** InstanceTable draws few instances, all of them. */
export function InstanceTable({ items, label, showProject = true }: { items: Instance[]; label: string; showProject?: boolean }) {
  return (
    <div className={showProject ? "table instances" : "table instances no-project"} role="table" aria-label={label}>
      <div role="rowgroup">
        <Head showProject={showProject} />
      </div>
      <div role="rowgroup">
        {items.map((i) => (
          <InstanceRow key={i.id} i={i} showProject={showProject} />
        ))}
      </div>
    </div>
  );
}

interface Endless {
  items: Instance[];
  label: string;
  more: boolean;
  loading: boolean;
  onMore: () => void;
}

/** EndlessInstances keeps only the rows in sight in the page, and asks for more near the end. */
export function EndlessInstances({ items, label, more, loading, onMore }: Endless) {
  const { density } = useSettings();
  const scroller = useRef<HTMLDivElement>(null);
  const size = density === "comfortable" ? 40 : 32;
  const rows = useVirtualizer({ count: items.length, getScrollElement: () => scroller.current, estimateSize: () => size, overscan: 8 });
  const drawn = rows.getVirtualItems();
  const last = drawn.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && !loading && last >= items.length - 20) onMore();
  }, [more, loading, last, items.length, onMore]);
  useEffect(() => rows.measure(), [rows]);
  return (
    <div
      className="table instances endless"
      role="table"
      aria-label={label}
      aria-rowcount={more ? -1 : items.length}
      ref={scroller}
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky">
        <Head showProject />
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {drawn.map((v) => {
          const i = items[v.index];
          return i && <InstanceRow key={i.id} i={i} showProject style={{ position: "absolute", top: v.start, left: 0, right: 0 }} />;
        })}
      </div>
    </div>
  );
}
