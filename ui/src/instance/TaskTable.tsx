import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import type { Task } from "../api/client";
import { useSay, word } from "../i18n";
import { StateWord } from "../parts/StateIcon";
import { Moment, Took } from "../parts/Times";

interface Props {
  tasks: Task[];
  live: boolean;
  chosen: string | undefined;
  onChoose: (task: string) => void;
}

/** TaskTable is the list equal of the graph: every task, by keys and to screen readers. */
export function TaskTable({ tasks, live, chosen, onChoose }: Props) {
  const { t } = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: tasks.length, getScrollElement: () => scroller.current, estimateSize: () => 32, overscan: 8 });
  const column = (name: string, className: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <div className="table tasks endless" role="table" aria-label={t("run.tasks")} aria-rowcount={tasks.length} ref={scroller} tabIndex={0}>
      <div role="rowgroup" className="sticky">
        <div className="tr th" role="row">
          {column(t("run.state"), "c-state")}
          {column(t("run.task"), "c-name")}
          {column(t("run.type"), "c-type")}
          {column(t("run.attempts"), "c-attempts num")}
          {column(t("run.started"), "c-time num")}
          {column(t("run.duration"), "c-took num")}
          {column(t("runs.reason"), "c-reason")}
        </div>
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((v) => {
          const x = tasks[v.index];
          if (!x) return null;
          return (
            <div
              key={x.name}
              className={x.name === chosen ? "tr chosen" : "tr"}
              role="row"
              style={{ position: "absolute", top: v.start, left: 0, right: 0 }}
            >
              <span role="cell" className="c-state">
                <StateWord state={x.state} />
              </span>
              <span role="cell" className="c-name">
                <button type="button" className="link" onClick={() => onChoose(x.name)}>
                  {x.name}
                </button>
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
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
