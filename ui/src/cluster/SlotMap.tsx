import { useMediaQuery } from "@mantine/hooks";
import { type KeyboardEvent, memo, type SyntheticEvent, useState } from "react";
import { type Cell, letterOf, type Marks } from "../domain/cluster/slots";
import { type Say, useSay } from "../i18n";
import { lookOfMark } from "./Mark";

interface Props {
  cells: Cell[];
  marks: Marks;
  lit: string | undefined; // the master whose slots stand out
  seconds: number; // since some are nobody's
  onLit: (master: string | undefined) => void;
  onOpen: (slot: number) => void;
}

/** SlotMap has a cell for each slot. It is one stop of the keyboard: the arrows move within it. */
export function SlotMap({ cells, marks, lit, seconds, onLit, onOpen }: Props) {
  const { t } = useSay();
  const narrow = useMediaQuery("(max-width: 640px)") ?? false;
  const columns = narrow ? 12 : cells.length > 512 ? 32 : 16;
  const [at, setAt] = useState(0);
  const over = (event: SyntheticEvent) => {
    const slot = slotOf(event.target);
    onLit(slot === undefined ? undefined : cells[slot]?.owner);
  };
  const press = (event: KeyboardEvent<HTMLElement>) => {
    const to = moved(event.key, at, columns, cells.length);
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
    event.currentTarget.querySelector<HTMLElement>(`[data-slot="${to}"]`)?.focus();
  };
  const rows = Array.from({ length: Math.ceil(cells.length / columns) }, (_, row) => cells.slice(row * columns, (row + 1) * columns));
  return (
    <div
      className="slot-map"
      role="grid"
      aria-label={t("cluster.mapLabel")}
      data-columns={columns}
      onMouseOver={over}
      onFocus={over}
      onMouseLeave={() => onLit(undefined)}
      onBlur={() => onLit(undefined)}
      onKeyDown={press}
      onClick={(event) => {
        const slot = slotOf(event.target);
        if (slot === undefined) return;
        setAt(slot);
        onOpen(slot);
      }}
    >
      {rows.map((row) => (
        <div key={row[0]?.slot} className="slot-row" role="row" tabIndex={-1}>
          <span className="slot-number num" aria-hidden="true">
            {row[0]?.slot}
          </span>
          {row.map(({ slot, owner, next, full }) => (
            <SlotCell
              key={slot}
              slot={slot}
              owner={owner}
              next={next}
              full={full}
              mark={owner === undefined ? undefined : marks.get(owner)}
              nextMark={next === undefined ? undefined : marks.get(next)}
              faded={lit !== undefined && owner !== lit && next !== lit}
              seconds={owner === undefined ? seconds : 0}
              stop={slot === Math.min(at, cells.length - 1)}
              t={t}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

function slotOf(target: EventTarget): number | undefined {
  const slot = target instanceof Element ? target.closest<HTMLElement>("[data-slot]")?.dataset.slot : undefined;
  return slot === undefined ? undefined : Number(slot);
}

function moved(key: string, at: number, columns: number, count: number): number | undefined {
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, ArrowUp: at - columns, ArrowDown: at + columns, Home: 0, End: count - 1 }[key];
  return to === undefined ? undefined : Math.max(0, Math.min(count - 1, to));
}

interface CellProps {
  slot: number;
  owner: string | undefined;
  next: string | undefined;
  full: boolean;
  mark: number | undefined;
  nextMark: number | undefined;
  faded: boolean;
  seconds: number;
  stop: boolean;
  t: Say;
}

const SlotCell = memo(function SlotCell({ slot, owner, next, full, mark, nextMark, faded, seconds, stop, t }: CellProps) {
  // Only a cell that has changed hands on this page is drawn with a movement.
  const [shown, setShown] = useState({ owner, landed: false });
  if (shown.owner !== owner) setShown({ owner, landed: true });
  const who = owner ?? t("cluster.nobody");
  const place = next === undefined ? t("cluster.slotOf", { slot, master: who }) : t("cluster.slotMoves", { slot, from: who, to: next });
  const label = full ? `${place}, ${t("cluster.slotFull")}` : place;
  const look = mark === undefined ? "unowned" : lookOfMark(mark);
  const letter = mark === undefined ? String(Math.min(99, seconds)) : letterOf(mark);
  const letters =
    next === undefined
      ? full
        ? `${letter}!`
        : letter
      : `${mark === undefined ? "" : letter}›${nextMark === undefined ? "?" : letterOf(nextMark)}`;
  return (
    <button
      type="button"
      role="gridcell"
      className={`slot ${look}${next === undefined ? "" : " moving"}${full ? " full" : ""}${faded ? " faded" : ""}`}
      data-slot={slot}
      data-owner={owner ?? ""}
      tabIndex={stop ? 0 : -1}
      title={label}
      // Who speaks to the page says what stands there.
      aria-label={next === undefined && !full ? label : `${label} ${letters}`}
    >
      <span key={owner ?? ""} className={shown.landed ? "landed" : undefined}>
        {letters}
      </span>
    </button>
  );
});
