import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import type { Instance } from "../api/client";
import { dayOf, duration, millis, moment, shortMomentOn, type Zone } from "../domain/format";
import { type Column, columnWords } from "../domain/instanceColumns";
import { isLive, lookOf } from "../domain/states";
import { type Say, useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { plain } from "../log/ansi";
import { useSettings } from "../settings";
import { messageWords } from "./messageWords";
import { StateIcon } from "./StateIcon";
import { Took } from "./Times";
import { triggerOf } from "./trigger";
import { useColumns } from "./useColumns";

interface RowProps {
  i: Instance;
  shown: Shown;
  say: RowWords;
  /** Where it stands in a list of which only the rows in sight are drawn. */
  top?: number;
  index?: number;
  chosen?: boolean;
  onToggle?: Picking["onToggle"];
}

type Shown = ReturnType<typeof useColumns>["shown"];

/** RowWords is what all rows need to write their times and words: asked for once per table, not per row. */
interface RowWords {
  t: Say;
  zone: Zone;
  today: string;
}

function useRowWords(): RowWords {
  const { t } = useSay();
  const { zone } = useSettings();
  const today = dayOf(useNow(false), zone);
  return useMemo(() => ({ t, zone, today }), [t, zone, today]);
}

/**
 * InstanceRow is one instance wherever instances are listed. A long list gives a row that left the sight to
 * one that comes, so that scrolling changes words in elements that are there, and makes none.
 */
const InstanceRow = memo(function InstanceRow({ i, shown, say, top, index, chosen = false, onToggle }: RowProps) {
  const { t, zone, today } = say;
  const style = useMemo(() => (top === undefined ? undefined : { transform: `translateY(${top}px)` }), [top]);
  const row = useRef<HTMLDivElement>(null);
  const drawn = useRef(i.id);
  useLayoutEffect(() => {
    if (drawn.current === i.id) return;
    drawn.current = i.id;
    // The focus was on another instance, which is gone from the page: Enter must not open this one.
    const at = document.activeElement;
    if (at instanceof HTMLElement && row.current?.contains(at)) at.blur();
  }, [i.id]);
  const live = isLive(i.state);
  const why = whyOf(t, i);
  const time = (at: string | undefined) => {
    const ms = millis(at);
    return (
      ms !== undefined && (
        <time dateTime={at} title={moment(ms, zone)}>
          {shortMomentOn(ms, today, zone)}
        </time>
      )
    );
  };
  return (
    <div className={chosen ? "tr chosen" : "tr"} role="row" aria-rowindex={index} style={style} data-instance={i.id} ref={row}>
      {onToggle && (
        <span role="cell" className="c-pick">
          <input
            type="checkbox"
            checked={chosen}
            aria-label={t("instances.choose", { workflow: i.workflow, id: i.id })}
            onClick={(e) => onToggle(i.id, e.shiftKey)}
            readOnly
          />
        </span>
      )}
      <span role="cell" className="c-state">
        <span className={`state-word text-${lookOf(i.state).hue}`}>
          <StateIcon state={i.state} />
          <span>{word(t, "state", i.state)}</span>
        </span>
      </span>
      <span role="cell" className="c-name">
        <Link to="/p/$project/r/$id" params={{ project: i.project, id: i.id }}>
          {i.workflow}
        </Link>
      </span>
      {shown.has("id") && (
        <span role="cell" className="c-id mono num">
          {i.id}
        </span>
      )}
      {shown.has("project") && (
        <span role="cell" className="c-project faint">
          {i.project}
        </span>
      )}
      {shown.has("fire") && (
        <span role="cell" className="c-fire num">
          {time(i.schedule_time)}
        </span>
      )}
      {shown.has("created") && (
        <span role="cell" className="c-time num">
          {time(i.created_at)}
        </span>
      )}
      <span role="cell" className="c-took num">
        {live ? <Took from={i.started_at} to={i.finished_at} live /> : spent(i)}
        <Against i={i} t={t} />
      </span>
      {shown.has("trigger") && (
        <span role="cell" className="c-trigger faint">
          {triggerOf(t, i.trigger).short}
        </span>
      )}
      {shown.has("done") && (
        <span role="cell" className="c-done num">
          {i.outline && i.outline.tasks > 0 ? `${i.outline.done}/${i.outline.tasks}` : "–"}
        </span>
      )}
      {shown.has("version") && (
        <span role="cell" className="c-version num faint">
          {t("common.version", { n: i.version })}
        </span>
      )}
      {shown.has("reason") && (
        <span role="cell" className={i.outline?.late ? "c-reason warning" : "c-reason faint"} title={why}>
          {why}
        </span>
      )}
      {shown.has("by") && (
        <span role="cell" className="c-by faint">
          {i.created_by}
        </span>
      )}
    </div>
  );
});

/** spent is how long an instance took that has ended; one that never began has a dash. */
function spent(i: Instance): string {
  const [from, to] = [millis(i.started_at), millis(i.finished_at)];
  return from === undefined || to === undefined ? "–" : duration(Math.max(0, to - from));
}

/** whyOf is what a row says of its state: what failed first and its last line, that it is late, or the reason of its end. */
function whyOf(t: Say, i: Instance): string {
  const culprit = i.outline?.culprit;
  if (culprit)
    return `${culprit.task}: ${culprit.line ? messageWords(t, plain(culprit.line)) : word(t, "reason", culprit.reason ?? culprit.state)}`;
  if (i.outline?.late) return t("instances.late");
  return i.reason ? word(t, "reason", i.reason) : "";
}

/** Against is how long it took beside the median of its workflow, which is the middle of the bar. */
function Against({ i, t }: { i: Instance; t: Say }) {
  const median = i.outline?.median_ms ?? 0;
  const [from, to] = [millis(i.started_at), millis(i.finished_at)];
  if (median === 0 || from === undefined || to === undefined) return null;
  const part = Math.min(1, (to - from) / median / 2);
  return (
    <span className="against" title={t("instances.median", { took: duration(median) })}>
      <span style={{ width: `${part * 100}%` }} />
    </span>
  );
}

function Head({ shown }: { shown: Shown }) {
  const { t } = useSay();
  const own = (name: Column, className: string) => shown.has(name) && column(t(columnWords[name]), className);
  const column = (name: string, className: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <div className="tr th" role="row">
      {shown.has("pick") && column("", "c-pick")}
      {column(t("runs.state"), "c-state")}
      {column(t("runs.workflow"), "c-name")}
      {own("id", "c-id num")}
      {own("project", "c-project")}
      {own("fire", "c-fire num")}
      {own("created", "c-time num")}
      {column(t("runs.duration"), "c-took num")}
      {own("trigger", "c-trigger")}
      {own("done", "c-done num")}
      {own("version", "c-version num")}
      {own("reason", "c-reason")}
      {own("by", "c-by")}
    </div>
  );
}

/** InstanceTable draws few instances, all of them. */
export function InstanceTable({ items, label, showProject = true }: { items: Instance[]; label: string; showProject?: boolean }) {
  const say = useRowWords();
  const table = useRef<HTMLDivElement>(null);
  const { shown, style } = useColumns(table, showProject, false);
  return (
    <div className="table instances" style={style} role="table" aria-label={label} ref={table}>
      <div role="rowgroup">
        <Head shown={shown} />
      </div>
      <div role="rowgroup">
        {items.map((i) => (
          <InstanceRow key={i.id} i={i} shown={shown} say={say} />
        ))}
      </div>
    </div>
  );
}

/** Picking is how rows of a long list are chosen: each has a box, and the cursor walks by keys. */
export interface Picking {
  cursor: number; // the row that has the keys; -1 for none
  isChosen: (id: string) => boolean;
  onToggle: (id: string, range: boolean) => void;
}

interface Endless {
  items: Instance[];
  label: string;
  more: boolean;
  loading: boolean;
  onMore: () => void;
  picking?: Picking;
  onSight?: (ids: string[]) => void;
}

/** settled is how long a list stands still before the rows in sight are told. */
const settled = 200;

/** EndlessInstances keeps only the rows in sight in the page, and asks for more near the end. */
export function EndlessInstances({ items, label, more, loading, onMore, picking, onSight }: Endless) {
  const { density } = useSettings();
  const say = useRowWords();
  const scroller = useRef<HTMLDivElement>(null);
  const size = density === "comfortable" ? 40 : 32;
  const { shown, style } = useColumns(scroller, true, picking !== undefined);
  const rows = useVirtualizer({ count: items.length, getScrollElement: () => scroller.current, estimateSize: () => size, overscan: 8 });
  const drawn = rows.getVirtualItems();
  const first = drawn[0]?.index ?? 0;
  const last = drawn.at(-1)?.index ?? 0;
  // As many elements as rows have ever been in sight at once; a row's place among them follows from its number.
  const slots = useRef(0);
  slots.current = Math.max(slots.current, drawn.length);
  useEffect(() => {
    if (more && !loading && last >= items.length - 20) onMore();
  }, [more, loading, last, items.length, onMore]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density has other heights
  useEffect(() => rows.measure(), [rows, size]);
  useEffect(() => {
    if (!onSight) return;
    const timer = setTimeout(() => onSight(items.slice(first, last + 1).map((i) => i.id)), settled);
    return () => clearTimeout(timer);
  }, [onSight, items, first, last]);
  const cursor = picking?.cursor ?? -1;
  const at = items[cursor]?.id;
  useEffect(() => {
    if (at === undefined) return;
    rows.scrollToIndex(cursor);
    // The row is drawn in the frame after the scroll.
    const frame = requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-instance="${at}"] .c-name a`)?.focus());
    return () => cancelAnimationFrame(frame);
  }, [rows, cursor, at]);
  return (
    <div
      className={picking ? "table instances endless picking" : "table instances endless"}
      style={style}
      role="table"
      aria-label={label}
      aria-rowcount={more ? -1 : items.length + 1}
      ref={scroller}
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky">
        <Head shown={shown} />
      </div>
      <div role="rowgroup" className="rows" style={{ height: rows.getTotalSize() }}>
        {drawn.map((v) => {
          const i = items[v.index];
          return (
            i && (
              <InstanceRow
                key={v.index % slots.current}
                i={i}
                shown={shown}
                say={say}
                top={v.start}
                index={v.index + 2}
                chosen={picking?.isChosen(i.id)}
                onToggle={picking?.onToggle}
              />
            )
          );
        })}
      </div>
    </div>
  );
}
