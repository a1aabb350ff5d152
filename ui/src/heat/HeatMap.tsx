import { type KeyboardEvent, memo, useRef, useState } from "react";
import { levelOf, levels, type Spot, short, step } from "../domain/heat";
import { useSay } from "../i18n";
import "@mantine/core/styles/Checkbox.css";
import "./heat.css";

interface Props {
  label: string;
  rows: { key: string; head: string; cells: readonly number[] }[]; // a cell below 0 is none
  columns: readonly string[];
  peak: number;
  numbers: boolean; // are in the cells
  open?: Spot;
  say: (row: number, column: number, n: number) => string;
  onOpen?: (spot: Spot) => void; // absent: there is nothing behind a cell
}

/** HeatMap has a cell for each count: the more, the larger its square. It is one stop of the keyboard: the arrows move within it. */
export function HeatMap({ label, rows, columns, peak, numbers, open, say, onOpen }: Props) {
  const { t } = useSay();
  const box = useRef<HTMLTableElement>(null);
  const [at, setAt] = useState<Spot>({ row: 0, column: 0 });
  const stop = { row: Math.min(at.row, rows.length - 1), column: Math.min(at.column, columns.length - 1) };
  const press = (event: KeyboardEvent) => {
    const to = step(event.key, stop, rows.length, columns.length);
    if (!to) return;
    event.preventDefault();
    setAt(to);
    box.current?.querySelector<HTMLElement>(`[data-cell="${to.row}.${to.column}"]`)?.focus();
  };
  return (
    <>
      <div className="scroll-x heat-scroll">
        <table className={`heat${numbers ? " with-numbers" : ""}`} aria-label={label} ref={box} onKeyDown={press}>
          <thead>
            <tr>
              <td />
              {columns.map((name) => (
                <th key={name} scope="col" className="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((r, row) => (
              <tr key={r.key}>
                <th scope="row" className="num">
                  {r.head}
                </th>
                {r.cells.map((n, column) => (
                  <Cell
                    // biome-ignore lint/suspicious/noArrayIndexKey: a column is its place
                    key={column}
                    row={row}
                    column={column}
                    n={n}
                    level={levelOf(n, peak)}
                    text={numbers && n >= 0 ? short(n) : undefined}
                    label={say(row, column, n)}
                    stop={row === stop.row && column === stop.column}
                    open={open?.row === row && open.column === column}
                    onAt={setAt}
                    onOpen={onOpen}
                  />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="heat-legend faint num">
        {t("heat.legend")}
        {Array.from({ length: levels + 1 }, (_, level) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a level is its number
          <span key={level} className="heat-key">
            <span className="heat-square" data-level={level} aria-hidden="true" />
            {level === 0 ? "0" : level === levels ? short(peak) : `≤ ${short(Math.floor((peak * level) / levels))}`}
          </span>
        ))}
      </p>
    </>
  );
}

interface CellProps {
  row: number;
  column: number;
  n: number;
  level: number;
  text: string | undefined;
  label: string;
  stop: boolean;
  open: boolean;
  onAt: (spot: Spot) => void;
  onOpen?: (spot: Spot) => void;
}

const Cell = memo(function Cell({ row, column, n, level, text, label, stop, open, onAt, onOpen }: CellProps) {
  const pick = () => {
    onAt({ row, column });
    if (n > 0) onOpen?.({ row, column });
  };
  return (
    <td>
      <button
        type="button"
        className="heat-cell"
        data-cell={`${row}.${column}`}
        data-n={n}
        aria-label={label}
        title={label}
        aria-pressed={onOpen && n > 0 ? open : undefined}
        aria-disabled={n <= 0 || onOpen === undefined}
        tabIndex={stop ? 0 : -1}
        onClick={pick}
      >
        {n < 0 ? (
          <span className="faint" aria-hidden="true">
            –
          </span>
        ) : text === undefined ? (
          <span className="heat-square" data-level={level} aria-hidden="true" />
        ) : (
          <span className="heat-number num" data-level={level} aria-hidden="true">
            {text}
          </span>
        )}
      </button>
    </td>
  );
});
