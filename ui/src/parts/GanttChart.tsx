import { SegmentedControl } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { InstanceEvent } from "../api/client";
import { clockTime, duration } from "../domain/format";
import { type GanttSort, gantt, type Segment, sorted, ticks } from "../domain/gantt";
import { lookOf } from "../domain/states";
import { type Sentence, useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { useSettings } from "../settings";
import { StateIcon } from "./StateIcon";

const phaseWords: Record<Segment["phase"], Sentence> = {
  queue: "run.queue",
  dispatch: "run.dispatch",
  run: "run.runs",
  retry: "run.retryGap",
};
const rowHeight = 28;

interface Props {
  events: InstanceEvent[];
  order: Map<string, number>;
  states: Map<string, { state: string }>;
  live: boolean;
  sort: GanttSort;
  onSort: (by: GanttSort) => void;
  chosen?: string;
  onChoose: (task: string) => void;
}

export function GanttChart({ events, order, states, live, sort, onSort, chosen, onChoose }: Props) {
  const { t } = useSay();
  const { zone } = useSettings();
  const now = useNow(live);
  const chart = useMemo(() => gantt(events, now), [events, now]);
  const rows = useMemo(() => sorted(chart.rows, sort, order), [chart, sort, order]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 6,
  });
  if (rows.length === 0) return <p className="empty">{t("run.noEvents")}</p>;
  const span = Math.max(1, chart.to - chart.from);
  const left = (at: number) => `${((at - chart.from) / span) * 100}%`;
  const width = (s: Segment) => `max(2px, ${((s.to - s.from) / span) * 100}%)`;
  const told = (s: Segment) =>
    `${t(phaseWords[s.phase])} ${duration(s.to - s.from)}${s.attempt ? `, ${t("run.rootCauseAttempt", { n: s.attempt })}` : ""}${s.phase === "run" ? `, ${word(t, "state", s.state)}` : ""}`;
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
        <span className="gantt-legend faint">
          <i className="seg queue" /> {t("run.queue")} <i className="seg dispatch" /> {t("run.dispatch")}{" "}
          <i className="seg run hue-running" /> {t("run.runs")} <i className="seg retry" /> {t("run.retryGap")}
        </span>
      </div>
      <div className="gantt-rows" ref={scroller} tabIndex={0} aria-label={t("run.gantt")} role="group">
        <div className="gantt-axis">
          {ticks(chart.from, chart.to, 6).map((at) => (
            <span key={at} className="num" style={{ left: left(at) }}>
              {clockTime(at, zone, span < 10_000)}
            </span>
          ))}
        </div>
        <div style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((v) => {
            const row = rows[v.index];
            if (!row) return null;
            const state = states.get(row.task)?.state ?? "";
            return (
              <button
                type="button"
                key={row.task}
                className={`gantt-row${row.task === chosen ? " chosen" : ""}`}
                style={{ top: v.start }}
                onClick={() => onChoose(row.task)}
              >
                <span className="gantt-name">
                  <StateIcon state={state} label={word(t, "state", state)} />
                  <span>{row.task}</span>
                  <span className="num faint">{duration(row.to - row.from)}</span>
                </span>
                <span className="gantt-bars">
                  {row.segments.map((s) => (
                    <i
                      key={`${s.phase}${s.from}`}
                      title={told(s)}
                      className={`seg ${s.phase}${s.phase === "run" ? ` hue-${lookOf(s.state).hue}` : ""}`}
                      style={{ left: left(s.from), width: width(s) }}
                    />
                  ))}
                </span>
              </button>
            );
          })}
        </div>
      </div>
    </div>
  );
}
