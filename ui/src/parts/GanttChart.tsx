import { Button, SegmentedControl } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, useState } from "react";
import type { InstanceEvent } from "../api/client";
import { clockTime, duration, exact } from "../domain/format";
import { criticalPath, type GanttSort, gantt, medianAt, type Segment, sorted, ticks, zoomOf } from "../domain/gantt";
import { lookOf } from "../domain/states";
import { type Sentence, useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { useSettings } from "../settings";
import "./gantt.css";
import { StateIcon } from "./StateIcon";
import { TaskName } from "./TaskName";

const phaseWords: Record<Segment["phase"], Sentence> = {
  wait: "run.wait",
  queue: "run.queue",
  dispatch: "run.dispatch",
  run: "run.runs",
  retry: "run.retryGap",
};
const rowHeight = 28;
const phone = window.matchMedia("(max-width: 640px)");

interface Props {
  events: InstanceEvent[];
  order: Map<string, number>;
  states: Map<string, { state: string; attempts?: number }>;
  needs: Map<string, string[]>;
  medians: ReadonlyMap<string, number>; // by task, in ms
  live: boolean;
  sort: GanttSort;
  onSort: (by: GanttSort) => void;
  zoom: string | undefined;
  onZoom: (zoom: string | undefined) => void;
  chosen?: string;
  onChoose: (task: string) => void;
}

const legend = [
  ["wait", "run.wait"],
  ["queue", "run.queue"],
  ["dispatch", "run.dispatch"],
  ["run hue-running", "run.runs"],
  ["retry", "run.retryGap"],
  ["run hue-skipped critical", "instance.critical"],
] as const;

export function GanttChart({ events, order, states, needs, medians, live, sort, onSort, zoom, onZoom, chosen, onChoose }: Props) {
  const { t } = useSay();
  const { zone } = useSettings();
  const now = useNow(live);
  const chart = useMemo(() => gantt(events, now), [events, now]);
  const rows = useMemo(() => sorted(chart.rows, sort, order), [chart, sort, order]);
  const critical = useMemo(() => criticalPath(chart.rows, needs), [chart, needs]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
  });
  if (rows.length === 0) return <p className="empty">{t("run.noEvents")}</p>;
  const shown = zoomOf(zoom, chart);
  const span = Math.max(1, shown.to - shown.from);
  const left = (at: number) => `${((at - shown.from) / span) * 100}%`;
  const width = (s: Segment) => `max(2px, ${((s.to - s.from) / span) * 100}%)`;
  const told = (s: Segment) =>
    `${t(phaseWords[s.phase])} ${exact(s.to - s.from)}${s.attempt ? `, ${t("run.rootCauseAttempt", { n: s.attempt })}` : ""}${s.phase === "run" ? `, ${word(t, "state", s.state)}` : ""}`;
  const ofChosen = rows.find((r) => r.task === chosen);
  return (
    <div className="gantt">
      <div className="gantt-head">
        <SegmentedControl
          aria-label={t("run.gantt")}
          data={[
            { value: "start", label: t("run.sortStart") },
            { value: "graph", label: t("run.sortGraph") },
            { value: "duration", label: t("run.sortDuration") },
          ]}
          value={sort}
          onChange={(v) => onSort(v === "graph" || v === "duration" ? v : "start")}
        />
        {ofChosen && (
          <Button
            variant="default"
            onClick={() => onZoom(`${Math.floor(ofChosen.from)}-${Math.ceil(Math.max(ofChosen.to, ofChosen.from + 1))}`)}
          >
            {t("instance.zoomTask")}
          </Button>
        )}
        {zoom !== undefined && (
          <Button variant="default" onClick={() => onZoom(undefined)}>
            {t("instance.zoomWhole")}
          </Button>
        )}
        <span className="gantt-legend faint">
          {legend.map(([look, word]) => (
            <span key={word}>
              <i className={`seg ${look}`} /> {t(word)}
            </span>
          ))}
        </span>
      </div>
      <div className="gantt-rows" ref={scroller} tabIndex={0} aria-label={t("run.gantt")} role="group">
        <Axis shown={shown} zone={zone} onZoom={onZoom} />
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((v) => {
            const row = rows[v.index];
            if (!row) return null;
            const is = states.get(row.task);
            const median = medians.get(row.task);
            const usual = medianAt(row, median);
            return (
              <button
                type="button"
                key={row.task}
                className={`gantt-row${row.task === chosen ? " chosen" : ""}`}
                style={{ top: v.start }}
                onClick={() => onChoose(row.task)}
              >
                <TaskName task={row.task} state={is?.state ?? ""} attempts={is?.attempts}>
                  <span className="num faint push">{exact(row.to - row.from)}</span>
                </TaskName>
                <span className="gantt-bars">
                  {row.segments
                    .filter((s) => s.to >= shown.from && s.from <= shown.to)
                    .map((s) => (
                      <i
                        key={`${s.phase}${s.from}`}
                        title={told(s)}
                        className={`seg ${s.phase}${s.phase === "run" ? ` hue-${lookOf(s.state).hue}` : ""}${s.phase === "run" && critical.has(row.task) ? " critical" : ""}`}
                        style={{ left: left(s.from), width: width(s) }}
                      />
                    ))}
                  {row.segments
                    .filter((s) => s.state === "lost" && s.to >= shown.from && s.to <= shown.to)
                    .map((s) => (
                      <i key={`lost${s.to}`} className="gantt-lost" title={told(s)} style={{ left: left(s.to) }}>
                        <StateIcon state="lost" size={14} label={t("gantt.lost")} />
                      </i>
                    ))}
                  {usual !== undefined && usual >= shown.from && usual <= shown.to && (
                    <i className="gantt-median" title={t("gantt.median", { took: duration(median ?? 0) })} style={{ left: left(usual) }} />
                  )}
                </span>
              </button>
            );
          })}
        </div>
      </div>
    </div>
  );
}

interface AxisProps {
  shown: { from: number; to: number };
  zone: string;
  onZoom: (zoom: string) => void;
}

/** Axis shows the time, and takes a brush: a drag over it zooms in. */
function Axis({ shown, zone, onZoom }: AxisProps) {
  const { t } = useSay();
  const box = useRef<HTMLDivElement>(null);
  const [drag, setDrag] = useState<[number, number]>();
  const span = Math.max(1, shown.to - shown.from);
  const place = (x: number) => {
    const r = box.current?.getBoundingClientRect();
    return r && r.width > 0 ? Math.min(1, Math.max(0, (x - r.left) / r.width)) : 0;
  };
  const end = () => {
    if (drag && Math.abs(drag[1] - drag[0]) > 0.005) {
      const at = (x: number) => shown.from + x * span;
      onZoom(`${Math.floor(at(Math.min(...drag)))}-${Math.ceil(at(Math.max(...drag)))}`);
    }
    setDrag(undefined);
  };
  return (
    <div
      className="gantt-axis"
      ref={box}
      title={t("instance.brush")}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        setDrag([place(e.clientX), place(e.clientX)]);
      }}
      onPointerMove={(e) => drag && setDrag([drag[0], place(e.clientX)])}
      onPointerUp={end}
      onPointerCancel={() => setDrag(undefined)}
    >
      {ticks(shown.from, shown.to, phone.matches ? 2 : 6).map((at) => (
        <span key={at} className="num" style={{ left: `${((at - shown.from) / span) * 100}%` }}>
          {clockTime(at, zone, span < 10_000)}
        </span>
      ))}
      {drag && <i className="brush" style={{ left: `${Math.min(...drag) * 100}%`, width: `${Math.abs(drag[1] - drag[0]) * 100}%` }} />}
    </div>
  );
}
