import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import type { LiveTask } from "../api/tasks";
import { taskVerbs } from "../domain/states";
import { useSay } from "../i18n";
import { RowMenu } from "../parts/RowMenu";
import { StateWord } from "../parts/StateIcon";
import { Took } from "../parts/Times";
import { useSettings } from "../settings";
import { type Keys, useKeys } from "../shell/keys";
import { useWhyNot } from "../shell/me";
import { WaitReason } from "./WaitReason";

export type TaskAct = "kill" | "skip" | "force_success";
const acts = { kill: "tasks.kill", skip: "tasks.skip", force_success: "tasks.force" } as const;

const keyOf = (task: LiveTask) => `${task.instance_id} ${task.task}`;

interface Acts {
  onAct: (verb: TaskAct, task: LiveTask) => void;
  onOpen: (panel: "log" | "why", task: LiveTask) => void;
}

interface Props extends Acts {
  items: LiveTask[];
  waiting: boolean;
  more: boolean;
  loading: boolean;
  onMore: () => void;
}

/** LiveTaskTable keeps only the rows in sight in the page, and asks for more near the end. */
export function LiveTaskTable({ items, waiting, more, loading, onMore, ...acts }: Props) {
  const { t } = useSay();
  const { density } = useSettings();
  const scroller = useRef<HTMLDivElement>(null);
  const size = density === "comfortable" ? 40 : 32;
  const rows = useVirtualizer({ count: items.length, getScrollElement: () => scroller.current, estimateSize: () => size, overscan: 8 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density has other rows
  useEffect(() => rows.measure(), [rows, size]);
  const at = useRef(-1);
  const keys = useMemo<Keys>(() => {
    const move = (by: number) => () => {
      at.current = Math.min(items.length - 1, Math.max(0, at.current + by));
      const task = items[at.current];
      if (task === undefined) return;
      rows.scrollToIndex(at.current);
      // The row is drawn in the frame after the scroll.
      requestAnimationFrame(() =>
        scroller.current?.querySelector<HTMLElement>(`[data-task="${CSS.escape(keyOf(task))}"] .c-name a`)?.focus(),
      );
    };
    // The names of keys, by text: capitals would look like components.
    return Object.fromEntries([
      ["j", move(1)],
      ["ArrowDown", move(1)],
      ["k", move(-1)],
      ["ArrowUp", move(-1)],
    ]);
  }, [items, rows]);
  useKeys(keys);
  const drawn = rows.getVirtualItems();
  const last = drawn.at(-1)?.index ?? 0;
  useEffect(() => {
    // A page may be empty and have another behind it.
    if (more && !loading && last >= items.length - 20) onMore();
  }, [more, loading, last, items.length, onMore]);
  const column = (name: string, className?: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <div
      className={waiting ? "table endless live-tasks waiting" : "table endless live-tasks"}
      role="table"
      aria-label={t("tasks.title")}
      aria-rowcount={more ? -1 : items.length + 1}
      ref={scroller}
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky">
        <div className="tr th" role="row">
          {column(t("tasks.state"), "c-state")}
          {column(t("tasks.name"))}
          {column(t("tasks.workflow"), "c-workflow")}
          {column(t("tasks.project"), "c-project")}
          {column(t("tasks.since"), "c-took num")}
          {column(t("tasks.attempt"), "c-attempts num")}
          {column(t("tasks.where"), "c-where")}
          {waiting && column(t("tasks.why"), "c-why")}
          <span role="columnheader">
            <span className="unseen">{t("common.more")}</span>
          </span>
        </div>
      </div>
      <div role="rowgroup" className="rows" style={{ height: rows.getTotalSize() }}>
        {drawn.map((v) => {
          const task = items[v.index];
          return task && <Row key={keyOf(task)} task={task} waiting={waiting} top={v.start} index={v.index + 2} {...acts} />;
        })}
      </div>
    </div>
  );
}

function Row({ task, waiting, top, index, onAct, onOpen }: { task: LiveTask; waiting: boolean; top: number; index: number } & Acts) {
  const { t } = useSay();
  const why = useWhyNot(task.project)("operator");
  const at = { project: task.project, id: task.instance_id };
  return (
    <div className="tr" role="row" aria-rowindex={index} style={{ transform: `translateY(${top}px)` }} data-task={keyOf(task)}>
      <span role="cell" className="c-state">
        <StateWord state={task.state} />
      </span>
      <span role="cell" className="c-name">
        <Link to="/p/$project/r/$id" params={at} search={{ task: task.task, panel: waiting ? "why" : "log" }} title={task.task}>
          {task.task}
        </Link>
      </span>
      <span role="cell" className="c-workflow" title={task.workflow}>
        {task.workflow} <span className="mono faint">{task.instance_id}</span>
      </span>
      <span role="cell" className="c-project faint">
        {task.project}
      </span>
      <span role="cell" className="c-took num">
        <Took from={task.since} to={undefined} live />
      </span>
      <span role="cell" className="c-attempts num">
        {task.attempts}
      </span>
      <span role="cell" className="c-where faint">
        {task.worker ?? task.worker_group ?? "–"}
      </span>
      {waiting && (
        <span role="cell" className="c-why">
          <WaitReason task={task} />
        </span>
      )}
      <span role="cell" className="c-do">
        <RowMenu
          label={t("tasks.actions", { task: task.task, id: task.instance_id })}
          actions={[
            ...(waiting ? [] : [{ label: t("tasks.openLog"), run: () => onOpen("log", task) }]),
            { label: t("tasks.explain"), run: () => onOpen("why", task) },
            ...taskVerbs(task.instance_state, task.state).flatMap((verb) =>
              verb === "rerun" ? [] : [{ label: t(acts[verb]), run: () => onAct(verb, task), why }],
            ),
          ]}
        />
      </span>
    </div>
  );
}
