import { SegmentedControl } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { Task } from "../api/client";
import { isTrouble } from "../domain/states";
import { useSay, word } from "../i18n";
import "../parts/gantt.css";
import { fanOf } from "../domain/fan";
import { fanWords } from "../parts/FanCounts";
import { TaskName } from "../parts/TaskName";
import { Moment, Took } from "../parts/Times";

interface Props {
  tasks: Task[];
  live: boolean;
  chosen: string | undefined;
  problems: boolean; // only those that are in trouble
  onProblems: (on: boolean) => void;
  onChoose: (task: string) => void;
}

const rank = (x: Task) => (x.state === "failed" || x.state === "killed" ? 0 : isTrouble(x.state) ? 1 : 2);

/** TaskTable is the list equal of the graph: every task, by keys and to screen readers. What is in trouble comes first. */
export function TaskTable({ tasks, live, chosen, problems, onProblems, onChoose }: Props) {
  const { t } = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const troubled = useMemo(() => tasks.filter((x) => isTrouble(x.state)).sort((a, b) => rank(a) - rank(b)), [tasks]);
  const shown = problems ? troubled : tasks;
  const rows = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => 32, overscan: 8 });
  const column = (name: string, className: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <>
      {troubled.length > 0 && (
        <SegmentedControl
          className="problems"
          aria-label={t("run.tasks")}
          data={[
            { value: "1", label: t("instance.problems", { count: troubled.length }) },
            { value: "", label: `${t("common.all")} ${tasks.length}` },
          ]}
          value={problems ? "1" : ""}
          onChange={(v) => onProblems(v === "1")}
        />
      )}
      {problems && troubled.length === 0 && <p className="empty">{t("instance.noProblems")}</p>}
      <div
        className="table tasks endless"
        role="table"
        aria-label={t("run.tasks")}
        aria-rowcount={shown.length + 1}
        ref={scroller}
        tabIndex={0}
      >
        <div role="rowgroup" className="sticky">
          <div className="tr th" role="row">
            {column(t("run.task"), "c-name")}
            {column(t("run.state"), "c-state")}
            {column(t("run.type"), "c-type")}
            {column(t("run.attempts"), "c-attempts num")}
            {column(t("run.started"), "c-time num")}
            {column(t("run.duration"), "c-took num")}
            {column(t("runs.reason"), "c-reason")}
          </div>
        </div>
        <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((v) => {
            const x = shown[v.index];
            if (!x) return null;
            return (
              <div
                key={x.name}
                className={x.name === chosen ? "tr chosen" : "tr"}
                role="row"
                aria-rowindex={v.index + 2}
                style={{ position: "absolute", top: v.start, left: 0, right: 0 }}
              >
                <span role="cell" className="c-name">
                  <button type="button" className="plain-button" onClick={() => onChoose(x.name)}>
                    <TaskName task={x.name} state={x.state} />
                  </button>
                </span>
                <span role="cell" className="c-state">
                  {x.state ? word(t, "state", x.state) : t("state.outside")}
                </span>
                <span role="cell" className="c-type faint">
                  {x.type}
                </span>
                <span role="cell" className="c-attempts num">
                  {x.attempts || ""}
                </span>
                <span role="cell" className="c-time num">
                  <Moment at={x.started_at} />
                </span>
                <span role="cell" className="c-took num">
                  <Took from={x.started_at} to={x.finished_at} live={live} />
                </span>
                <span role="cell" className="c-reason faint">
                  {x.reason ? word(t, "reason", x.reason) : ""}
                  <Fanned task={x} />
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}

/** Fanned says of a dynamic task how far its items are. */
function Fanned({ task }: { task: Task }) {
  const { t } = useSay();
  const fan = fanOf(task.items, task.item_states);
  return fan && <>{`${task.reason ? " · " : ""}${fanWords(t, fan)}`}</>;
}
