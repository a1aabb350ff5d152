import "./list.css";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useMemo, useRef } from "react";
import { taskTypesQuery } from "../../api/queries";
import { moveTask } from "../../domain/document/order";
import type { Task } from "../../domain/document/read";
import { useSay } from "../../i18n";
import { useSettings } from "../../settings";
import { add, remove } from "../commands";
import { useDoc, useDocument } from "../context";
import { BrokenNote } from "../form/BrokenNote";
import { useOpened } from "../form/useTaskInURL";
import { columns } from "./cells";
import { ListHead } from "./ListHead";
import { ListRow } from "./ListRow";
import { rowsOf, type Sort, sorts } from "./rows";
import { useGrid } from "./useGrid";
import { useLastStates } from "./useLastStates";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** ListView has every task as a row: for hundreds of tasks, and for those who do not see the canvas. */
export function ListView() {
  const { t } = useSay();
  const doc = useDocument();
  const { project, workflow } = route.useParams();
  const { q = "", sort: asked } = route.useSearch();
  const sort: Sort = sorts.find((s) => s === asked) ?? "text";
  const tasks = useDoc((s) => s.reading.model.tasks);
  const chosen = useDoc((s) => s.history.selection.tasks);
  const problems = useDoc((s) => s.problems.ofTask);
  const types = useQuery(taskTypesQuery).data?.items ?? noTypes;
  const states = useLastStates(project, workflow);
  const opened = useOpened();
  const rows = useMemo(() => rowsOf(tasks, q, sort), [tasks, q, sort]);
  const grid = useRef<HTMLDivElement>(null);
  const { density } = useSettings();
  const size = density === "comfortable" ? 40 : 32;

  const act = (what: "remove" | "add" | "up" | "down", row: number) => {
    const task = rows[row];
    if (what === "add") addBelow(task);
    else if (task && what === "remove") remove(doc, chosen.includes(task.name) ? chosen : [task.name]);
    else if (task) doc.edit("order", (r) => moveTask(r, task, what === "up" ? -1 : 1));
    if (task && sort === "text" && q === "" && (what === "up" || what === "down")) keys.go(row + (what === "up" ? -1 : 1));
  };
  const keys = useGrid({ doc, rows, chosen, begin: rows.findIndex((r) => r.name === opened), act });
  const { active, editing } = keys;
  // What is edited or has the focus stays in the page however far the list is scrolled.
  const range = useCallback(
    (r: Range) => {
      const drawn = defaultRangeExtractor(r);
      return active.row < r.count && !drawn.includes(active.row) ? [...drawn, active.row].sort((a, b) => a - b) : drawn;
    },
    [active.row],
  );
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => size,
    overscan: 4,
    rangeExtractor: range,
    scrollPaddingStart: size,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density is another height of all rows
  useEffect(() => virtual.measure(), [virtual, size]);
  useEffect(() => virtual.scrollToIndex(active.row), [virtual, active.row]);
  const pending = useRef<string>(undefined);
  const addBelow = (after: Task | undefined) => {
    pending.current = add(
      doc,
      { name: "task", type: after?.type === "wait" ? "noop" : (types.find((x) => x.type === "noop")?.type ?? "noop") },
      { after: after?.name },
    );
  };
  // A new row is in the list with the next drawing: its name is what is written first.
  useEffect(() => {
    const at = pending.current === undefined ? -1 : rows.findIndex((r) => r.name === pending.current);
    if (at < 0) return;
    pending.current = undefined;
    keys.edit({ row: at, column: columns.indexOf("name") });
  });
  const leave = () => {
    keys.leave();
    grid.current?.focus();
  };
  const picked = new Set(chosen);
  return (
    <section className="editor-list" aria-label={t("editor.list")}>
      <ListHead
        shown={rows.length}
        all={tasks.length}
        chosen={chosen.length}
        filter={q}
        sort={sort}
        onAdd={() => act("add", active.row)}
        onRemove={() => act("remove", active.row)}
        onMove={(way) => act(way, active.row)}
      />
      <BrokenNote />
      <div
        className="list-grid"
        role="grid"
        aria-label={t("list.grid")}
        aria-multiselectable
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-activedescendant={rows.length > 0 && !editing ? `list-${active.row}-${active.column}` : undefined}
        tabIndex={0}
        ref={grid}
        onKeyDown={keys.press}
      >
        <div role="rowgroup" className="sticky">
          <div className="lr th" role="row" aria-rowindex={1}>
            {columns.map((c, i) => (
              <span key={c} role="columnheader" aria-colindex={i + 1} className={`l-${c}`}>
                {t(`list.${c}`)}
              </span>
            ))}
          </div>
        </div>
        <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: "relative" }}>
          {virtual.getVirtualItems().map((v) => {
            const task = rows[v.index];
            return (
              task && (
                <ListRow
                  key={task.index}
                  task={task}
                  row={v.index}
                  top={v.start}
                  chosen={picked.has(task.name)}
                  active={active.row === v.index ? active.column : undefined}
                  editing={editing && active.row === v.index}
                  state={states.get(task.name)}
                  problems={problems.get(task.name === "" ? `#${task.index + 1}` : task.name) ?? none}
                  types={types}
                  keys={keys}
                  onLeave={leave}
                  onStep={(by) => !keys.step(by) && grid.current?.focus()}
                />
              )
            );
          })}
        </div>
        {rows.length === 0 && (
          <div className="empty list-empty" role="row">
            <span role="gridcell">{tasks.length === 0 ? t("list.none") : t("list.noMatch", { filter: q })}</span>
          </div>
        )}
      </div>
    </section>
  );
}

const none: readonly never[] = [];
const noTypes: readonly never[] = [];
