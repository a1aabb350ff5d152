import { memo, useMemo } from "react";
import { duration } from "../domain/format";
import { none } from "../domain/grid/code";
import { figures } from "../domain/grid/figures";
import type { Column, Grid } from "../domain/grid/grid";
import { type Say, useSay, word } from "../i18n";
import { classOf, type Saying } from "./looks";
import { spotId } from "./spot";

interface Props {
  index: number; // among the rows that are shown
  row: number; // in the grid
  top: number;
  gone: boolean; // it is the first that the newest version does not have
  grid: Grid;
  columns: readonly Column[];
  saying: Saying;
  first: number; // the columns in sight
  last: number;
  pitch: number;
  cursor: number | undefined; // the column that has the focus
  chosen: string; // the columns in sight that are chosen
  opened: string | undefined; // the instance whose cell is open; "" is the task's history
}

interface CellOf {
  t: Say;
  words: Grid["words"];
  letter: string;
  of: Column | undefined;
  at: number;
  chosen: boolean;
  open: boolean;
  id?: string; // of the one that has the focus, which tells all of itself
  label?: string;
}

function cellOf({ t, words, letter, of, at, chosen, open, id, label }: CellOf) {
  const state = letter === none ? undefined : (words[letter] ?? letter);
  return (
    // The grid has the focus, and names the cell that is active.
    <span
      // By place: a row that scrolls in takes over the elements of one that has left.
      key={at}
      id={id}
      role="gridcell"
      aria-colindex={at + 2}
      aria-label={label ?? (state === undefined ? undefined : word(t, "state", state))}
      aria-selected={chosen}
      className={state === undefined ? "grid-cell is-none" : classOf(state)}
      data-column={at}
      data-in={of?.id}
      data-at={id !== undefined || undefined}
      data-open={open || undefined}
    />
  );
}

/** GridRow is one task in all instances in sight, with what its cells come to. */
export const GridRow = memo(function GridRow(props: Props) {
  const { index, row, grid, columns, saying, first, last, pitch, cursor, opened } = props;
  const { t } = useSay();
  const task = grid.rows[row] ?? "";
  const { p50, p95, failed, ran } = figures(grid, columns, row);
  const chosen = useMemo(() => new Set(props.chosen === "" ? [] : props.chosen.split(",").map(Number)), [props.chosen]);
  const isGone = row >= grid.gone;
  // The cells in sight as one word: a row that scrolls in where another looked the same leaves the page as it is.
  let letters = "";
  for (let at = first; at <= last; at++) letters += columns[at]?.cells[row] ?? none;
  const open = opened ? columns.findIndex((c) => c.id === opened) : -1;
  const { words } = grid;
  const cells = useMemo(
    () =>
      [...letters].map((letter, i) =>
        cellOf({ t, words, letter, of: columns[first + i], at: first + i, chosen: chosen.has(first + i), open: open === first + i }),
      ),
    [t, words, letters, columns, first, chosen, open],
  );
  const at = cursor === undefined || cursor < first || cursor > last ? undefined : cursor;
  const active = at === undefined ? undefined : columns[at];
  const drawn =
    at === undefined || !active
      ? cells
      : cells.with(
          at - first,
          cellOf({
            t,
            words,
            letter: letters[at - first] ?? none,
            of: active,
            at,
            chosen: chosen.has(at),
            open: open === at,
            id: spotId({ row: index, column: at }),
            label: saying(grid, active, row),
          }),
        );
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="grid-row"
      data-row={index}
      data-gone={isGone || undefined}
      data-first={props.gone || undefined}
      style={{ top: props.top }}
    >
      <div
        id={spotId({ row: index, column: -1 })}
        role="rowheader"
        aria-colindex={1}
        className="grid-name"
        data-column={-1}
        data-at={cursor === -1 || undefined}
        data-open={opened === "" || undefined}
        title={isGone ? t("grid.goneTask", { task }) : task}
      >
        <span className="grid-task">{task}</span>
        <span className="grid-figures num" aria-hidden="true">
          <span className={failed > 0 ? "text-failed" : undefined}>{ran > 0 ? `${failed}/${ran}` : ""}</span>
          <span>{p50 === undefined ? "" : duration(p50)}</span>
          <span>{p95 === undefined ? "" : duration(p95)}</span>
        </span>
        <span className="unseen">
          {t("grid.figures", { failed, ran, p50: p50 === undefined ? "–" : duration(p50), p95: p95 === undefined ? "–" : duration(p95) })}
        </span>
      </div>
      <div className="grid-cells" role="presentation" style={{ marginLeft: first * pitch }}>
        {drawn}
      </div>
    </div>
  );
});
