import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import { childrenQuery } from "../../api/about";
import type { Instance, Task } from "../../api/client";
import { byTrouble } from "../../domain/fan";
import { lookOf } from "../../domain/states";
import { useSay, word } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { StateIcon, StateWord } from "../../parts/StateIcon";
import { Took } from "../../parts/Times";

const rowHeight = 32;

/** Children are those that a dynamic task has made: as a bar by state, and as a list of which only the part that is seen is drawn. */
export function Children({ id, task }: { id: string; task: Task }) {
  const { t } = useSay();
  const list = useQuery(childrenQuery(id));
  const [only, setOnly] = useState<string>();
  const mine = useMemo(() => list.data?.filter((c) => c.parent_task === task.name) ?? [], [list.data, task.name]);
  const counts = useMemo(() => byTrouble(countsOf(mine)), [mine]);
  if (list.isError) return <ErrorView error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <SkeletonRows />;
  if (mine.length === 0) return <p className="faint">{t("about.noChildren")}</p>;
  const shown = only === undefined ? mine : mine.filter((c) => c.state === only);
  return (
    <section className="about-children">
      <p className="faint num">{t("about.made", { made: mine.length, items: task.items ?? mine.length })}</p>
      <span className="about-bar" aria-hidden="true">
        {counts.map(([state, n]) => (
          <i key={state} className={`hue-${lookOf(state).hue}`} style={{ flexGrow: n }} />
        ))}
      </span>
      <div className="about-counts" role="group" aria-label={t("about.children")}>
        {counts.map(([state, n]) => (
          <button
            key={state}
            type="button"
            className="about-count"
            aria-pressed={only === state}
            onClick={() => setOnly(only === state ? undefined : state)}
          >
            <StateIcon state={state} size={14} /> <span className="num">{n}</span> {word(t, "state", state)}
          </button>
        ))}
      </div>
      <Rows rows={shown.length > 0 ? shown : mine} />
    </section>
  );
}

function countsOf(children: readonly Instance[]): Map<string, number> {
  const by = new Map<string, number>();
  for (const { state } of children) by.set(state, (by.get(state) ?? 0) + 1);
  return by;
}

function Rows({ rows }: { rows: readonly Instance[] }) {
  const { t } = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const seen = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 6 });
  return (
    <div className="about-rows" ref={scroller} role="list" aria-label={t("about.allChildren")} tabIndex={0}>
      <div style={{ height: seen.getTotalSize(), position: "relative" }}>
        {seen.getVirtualItems().map((v) => {
          const c = rows[v.index];
          if (!c) return null;
          return (
            <div key={c.id} role="listitem" className="about-row" style={{ transform: `translateY(${v.start}px)` }}>
              <Link to="/p/$project/r/$id" params={{ project: c.project, id: c.id }} className="mono">
                #{c.id}
              </Link>
              <StateWord state={c.state} size={14} />
              <span className="about-params mono faint" title={paramsOf(c)}>
                {paramsOf(c)}
              </span>
              <span className="faint num">
                <Took from={c.started_at} to={c.finished_at} live />
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}

function paramsOf({ params }: Instance): string {
  return Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join("  ");
}
