import type { TaskType } from "../../api/client";
import type { Task } from "../../domain/document/read";
import type { Problem } from "../../domain/document/validate";
import { useSay } from "../../i18n";
import { StateWord } from "../../parts/StateIcon";
import { showField } from "../text/go";
import { sentenceOf } from "../text/sentence";
import { CellEditor } from "./CellEditor";
import { type Column, columns, textOf } from "./cells";
import { TypeEditor } from "./TypeEditor";
import type { useGrid } from "./useGrid";

interface Props {
  task: Task;
  row: number;
  top: number;
  chosen: boolean;
  /** active is the column with the focus, where it is in this row. */
  active: number | undefined;
  editing: boolean;
  state: string | undefined;
  problems: readonly Problem[];
  types: readonly TaskType[];
  keys: ReturnType<typeof useGrid>;
  onLeave: () => void;
  onStep: (by: 1 | -1) => void;
}

/** ListRow is one task. A click chooses it, a double click edits the cell. */
export function ListRow(props: Props) {
  const { task, row, top, chosen, active, editing, types, keys } = props;
  const { t } = useSay();
  return (
    <div
      role="row"
      className={chosen ? "lr chosen" : "lr"}
      aria-selected={chosen}
      aria-rowindex={row + 2}
      style={{ position: "absolute", top, left: 0, right: 0, zIndex: editing ? 1 : undefined }}
    >
      {columns.map((column, i) => {
        const here = active === i;
        const edited = here && editing;
        const label = t("list.cell", { column: t(`list.${column}`), task: task.name });
        const field = { task, label, types, onLeave: props.onLeave, onStep: props.onStep };
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the grid around it has the keys for its active cell
          <span
            key={column}
            role="gridcell"
            id={`list-${row}-${i}`}
            aria-colindex={i + 1}
            className={`l-${column}${here ? " active" : ""}`}
            onClick={(event) => {
              if (edited) return;
              keys.go(row, i);
              keys.choose(row, event.shiftKey ? "range" : event.ctrlKey || event.metaKey ? "more" : "one");
            }}
            onDoubleClick={() => keys.edit({ row, column: i })}
          >
            {!edited ? (
              <Cell {...props} column={column} />
            ) : column === "type" ? (
              <TypeEditor {...field} />
            ) : (
              <CellEditor {...field} column={column} />
            )}
          </span>
        );
      })}
    </div>
  );
}

function Cell({ task, column, state, problems }: Props & { column: Column }) {
  const { t } = useSay();
  switch (column) {
    case "state":
      return state === undefined ? null : <StateWord state={state} />;
    case "needs":
      return task.needs.map((n, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a need may stand there twice
        <span className="list-chip" key={`${n} ${i}`}>
          {n}
        </span>
      ));
    case "problems": {
      const [first] = problems;
      if (!first) return null;
      const text = problems.map((p) => sentenceOf(t, p)).join("\n");
      const go = () => showField({ task: task.name, path: first.path });
      return (
        <button
          type="button"
          className="list-problems"
          tabIndex={-1}
          title={text}
          aria-label={t("list.problemsOf", { count: problems.length, text })}
          onClick={go}
        >
          {problems.length}
        </button>
      );
    }
    case "name":
      return textOf(task, "name") || <span className="faint">{t("form.unnamed", { n: task.index + 1 })}</span>;
    default:
      return textOf(task, column);
  }
}
