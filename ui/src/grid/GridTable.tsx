import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  memo,
  type PointerEvent,
  type ReactNode,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
} from "react";
import { duration, moment } from "../domain/format";
import { type Choice, keyAt, nothing, rectangle, type Shown, type Spot, toggled, walked } from "../domain/grid/choice";
import { percentile, turns } from "../domain/grid/figures";
import { type Column, lasted } from "../domain/grid/grid";
import { isLive } from "../domain/states";
import { useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { triggerOf } from "../parts/trigger";
import { useSettings } from "../settings";
import { GridRow } from "./GridRow";
import { classOf, type Saying } from "./looks";
import { spotId } from "./spot";
import { useBitmaps } from "./useBitmaps";

/** pitches are how far cells are apart; a cell of the normal size is 16 px and has room of 24 for a finger. */
export const pitches = { normal: 24, tiny: 12 } as const;
export type Size = keyof typeof pitches;

/** firstRect is what a grid has in most windows. It is drawn by that before it is measured, and once more only where it is wrong. */
const firstRect = { width: window.innerWidth, height: Math.max(0, window.innerHeight - 264) };

interface Props {
  project: string;
  workflow: string;
  shown: Shown;
  saying: Saying;
  size: Size;
  heading: ReactNode; // what stands in the corner
  separator: number; // the row that begins what is gone, among the shown; -1 for none
  cursor: Spot;
  choice: Choice;
  opened: { id?: string; task?: string };
  older: { more: boolean; loading: boolean; read: () => void };
  onCursor: (spot: Spot) => void;
  onChoice: (choice: Choice) => void;
  onOpen: (spot: Spot) => void;
  onPoint: (spot: Spot | undefined) => void;
}

/** spotOf finds the place that an element of the grid stands for. */
function spotOf(target: EventTarget | null): Spot | undefined {
  const at = target instanceof Element ? target.closest<HTMLElement>("[data-column]") : null;
  const row = at?.closest<HTMLElement>("[data-row]")?.dataset.row;
  return at && row !== undefined ? { row: Number(row), column: Number(at.dataset.column) } : undefined;
}

/** GridTable keeps only the rows and columns in sight in the page. One place of it has the focus; keys move that, and a drag chooses. */
export function GridTable(props: Props) {
  const { shown, size, cursor, choice, opened, older, onCursor, onChoice, onOpen, onPoint } = props;
  const { t } = useSay();
  const pitch = pitches[size];
  const scroller = useRef<HTMLDivElement>(null);
  const { rows, columns, grid } = shown;
  const box = { getScrollElement: () => scroller.current, estimateSize: () => pitch, overscan: 2, initialRect: firstRect };
  const vertical = useVirtualizer({ ...box, count: rows.length });
  const horizontal = useVirtualizer({ ...box, horizontal: true, count: columns.length });
  const measured = useRef(pitch);
  useEffect(() => {
    if (measured.current === pitch) return;
    measured.current = pitch; // another size has other places
    vertical.measure();
    horizontal.measure();
  }, [vertical, horizontal, pitch]);
  useAnchor(scroller, columns, pitch);
  useBitmaps(scroller);
  const across = horizontal.getVirtualItems();
  const first = across[0]?.index ?? 0;
  const last = across.at(-1)?.index ?? -1;
  // Only who scrolls to the left asks for what is older: a wide window shows the end of it from the start.
  const left = useRef(0);
  const scrolled = () => {
    const at = scroller.current?.scrollLeft ?? 0;
    if (at < left.current && at < pitch * 3 && older.more && !older.loading) older.read();
    left.current = at;
  };
  const down = vertical.getVirtualItems();
  // As many rows as have ever been in sight at once: scrolling changes words in elements that are there, and makes none.
  const slots = useRef(1);
  slots.current = Math.max(slots.current, down.length);
  const inSight =
    (cursor.row < 0 || down.some((v) => v.index === cursor.row)) &&
    (cursor.column < 0 || (cursor.column >= first && cursor.column <= last));
  const reveal = (spot: Spot) => {
    if (spot.row >= 0) bring(scroller.current, "y", spot.row * pitch, pitch);
    if (spot.column >= 0) bring(scroller.current, "x", spot.column * pitch, pitch);
  };
  useOpened(shown, opened, reveal);
  const drag = useDrag({ shown, choice, onChoice, onCursor, onOpen });
  const anchor = useRef<Spot | undefined>(undefined);
  const press = (event: KeyboardEvent) => {
    if (event.altKey || event.metaKey) return;
    const to = walked(cursor, event.key, event.ctrlKey, { rows: rows.length, columns: columns.length });
    if (to) {
      anchor.current = event.shiftKey ? (anchor.current ?? cursor) : undefined;
      if (anchor.current) onChoice(rectangle(shown, anchor.current, to));
      onCursor(to);
      reveal(to);
    } else if (event.key === "Enter") onOpen(cursor);
    else if (event.key === " ") onChoice(chosenAt(shown, choice, cursor));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      className={`grid-scroll is-${size}`}
      role="grid"
      aria-label={t("grid.label", { workflow: props.workflow })}
      aria-rowcount={rows.length + 1}
      aria-colcount={older.more ? -1 : columns.length + 1}
      aria-multiselectable="true"
      aria-activedescendant={inSight ? spotId(cursor) : undefined}
      tabIndex={0}
      ref={scroller}
      onKeyDown={press}
      {...drag}
      onPointerOver={(event) => onPoint(spotOf(event.target))}
      onPointerLeave={() => onPoint(undefined)}
      onScroll={scrolled}
      // A press of the mouse must not move what it is about to hit.
      onFocus={(event) => event.currentTarget.matches(":focus-visible") && reveal(cursor)}
    >
      <Heads
        project={props.project}
        columns={columns}
        heading={props.heading}
        cursor={cursor.row === -1 ? cursor.column : undefined}
        opened={opened.id}
        first={first}
        last={last}
        pitch={pitch}
      />
      <div
        role="rowgroup"
        className="grid-body"
        style={{ height: vertical.getTotalSize(), width: `calc(var(--grid-names) + ${columns.length * pitch + 8}px)` }}
      >
        {down.map((v) => (
          <GridRow
            key={v.index % slots.current}
            index={v.index}
            row={rows[v.index] ?? 0}
            top={v.start}
            gone={v.index === props.separator}
            grid={grid}
            columns={columns}
            saying={props.saying}
            first={first}
            last={last}
            pitch={pitch}
            cursor={cursor.row === v.index ? cursor.column : undefined}
            chosen={marks(shown, choice, v.index, first, last)}
            opened={opened.task === grid.rows[rows[v.index] ?? -1] ? (opened.id ?? "") : undefined}
          />
        ))}
        {turns(columns).map((i) => (
          <span key={i} className="grid-turn" aria-hidden="true" style={{ left: `calc(var(--grid-names) + ${i * pitch}px)` }} />
        ))}
      </div>
    </div>
  );
}

/** marks says which columns in sight are chosen in a row: text, so that a row that stays the same is not drawn again. */
function marks(shown: Shown, choice: Choice, row: number, first: number, last: number): string {
  if (choice.size === 0) return "";
  const out: number[] = [];
  for (let column = first; column <= last; column++) {
    const key = keyAt(shown, { row, column });
    if (key !== undefined && choice.has(key)) out.push(column);
  }
  return out.join(",");
}

/** chosenAt chooses a cell or lets it go; on a head, its whole row or column. */
function chosenAt(shown: Shown, choice: Choice, spot: Spot): Choice {
  const { rows, columns } = shown;
  if (spot.row >= 0 && spot.column >= 0) {
    const key = keyAt(shown, spot);
    return key === undefined ? choice : toggled(choice, key);
  }
  const all =
    spot.row < 0
      ? rectangle(shown, { row: 0, column: spot.column }, { row: rows.length - 1, column: spot.column })
      : rectangle(shown, { row: spot.row, column: 0 }, { row: spot.row, column: columns.length - 1 });
  const had = [...all].every((key) => choice.has(key));
  return had ? new Set([...choice].filter((key) => !all.has(key))) : new Set([...choice, ...all]);
}

/** bring scrolls so far that a place is in sight, which the sticky heads do not cover. */
function bring(box: HTMLElement | null, axis: "x" | "y", start: number, size: number): void {
  if (!box) return;
  const style = getComputedStyle(box);
  const head = Number.parseFloat(style.getPropertyValue(axis === "y" ? "--grid-heads" : "--grid-names")) || 0;
  const room = (axis === "y" ? box.clientHeight : box.clientWidth) - head;
  const at = axis === "y" ? box.scrollTop : box.scrollLeft;
  const to = start < at ? start : start + size > at + room ? start + size - room : at;
  if (to !== at) box.scrollTo(axis === "y" ? { top: to } : { left: to });
}

/** useAnchor opens a grid at its newest columns, keeps it there while new ones come, and keeps what is in sight when older ones do. */
function useAnchor(scroller: React.RefObject<HTMLDivElement | null>, columns: readonly Column[], pitch: number): void {
  const before = useRef<{ first: string | undefined; count: number } | undefined>(undefined);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || columns.length === 0) return;
    const was = before.current;
    before.current = { first: columns[0]?.id, count: columns.length };
    if (!was) {
      box.scrollLeft = box.scrollWidth;
      return;
    }
    const left = was.first === columns[0]?.id ? 0 : columns.findIndex((c) => c.id === was.first);
    if (left > 0) box.scrollLeft += left * pitch;
    else if (columns.length > was.count && box.scrollLeft + box.clientWidth >= box.scrollWidth - (columns.length - was.count + 2) * pitch)
      box.scrollLeft = box.scrollWidth;
  }, [scroller, columns, pitch]);
}

/** useOpened brings the cell whose task is open into sight: the panel beside the grid has made it narrower. */
function useOpened(shown: Shown, { id, task }: Props["opened"], reveal: (spot: Spot) => void): void {
  const { grid, rows, columns } = shown;
  const row = task === undefined ? -1 : rows.findIndex((r) => grid.rows[r] === task);
  const column = id === undefined ? -1 : columns.findIndex((c) => c.id === id);
  const open = useEffectEvent(() => reveal({ row, column }));
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is opened counts, not where it has moved since
  useEffect(() => {
    if (row >= 0) open();
  }, [id, task]);
}

interface DragOf {
  shown: Shown;
  choice: Choice;
  onChoice: (choice: Choice) => void;
  onCursor: (spot: Spot) => void;
  onOpen: (spot: Spot) => void;
}

/** useDrag tells a click, which opens, from a drag, which chooses a rectangle; Ctrl adds to what is chosen, Shift goes on from the last place. */
function useDrag({ shown, choice, onChoice, onCursor, onOpen }: DragOf) {
  const from = useRef<{ spot: Spot; moved: boolean; before: Choice } | undefined>(undefined);
  const last = useRef<Spot | undefined>(undefined);
  return {
    onPointerDown: (event: PointerEvent) => {
      const spot = spotOf(event.target);
      if (event.button !== 0 || !spot) return;
      from.current = { spot, moved: false, before: event.ctrlKey || event.metaKey ? choice : nothing };
    },
    onPointerMove: (event: PointerEvent) => {
      const start = from.current;
      // A finger's drag scrolls.
      if (!start || event.pointerType === "touch" || (event.buttons & 1) === 0 || start.spot.row < 0 || start.spot.column < 0) return;
      const spot = spotOf(event.target);
      if (!spot || spot.row < 0 || spot.column < 0 || (!start.moved && spot.row === start.spot.row && spot.column === start.spot.column))
        return;
      start.moved = true;
      onChoice(rectangle(shown, start.spot, spot, start.before));
      onCursor(spot);
      last.current = start.spot;
    },
    onPointerUp: (event: PointerEvent) => {
      const start = from.current;
      from.current = undefined;
      const spot = spotOf(event.target);
      if (!start || start.moved || !spot || spot.row !== start.spot.row || spot.column !== start.spot.column) return;
      onCursor(spot);
      if (event.shiftKey && last.current) onChoice(rectangle(shown, last.current, spot, choice));
      else if (event.ctrlKey || event.metaKey) onChoice(chosenAt(shown, choice, spot));
      // A link of the head opens by itself, also in another tab.
      else if (spot.row >= 0) onOpen(spot);
      last.current = spot;
    },
  };
}

/** tallest is how many medians the highest bar stands for. */
const tallest = 3;

interface HeadsProps {
  project: string;
  columns: readonly Column[];
  heading: ReactNode;
  cursor: number | undefined; // the column whose head has the focus
  opened: string | undefined;
  first: number;
  last: number;
  pitch: number;
}

/** Heads is the row of instances: how long each took beside the median, how it ended, what started it. */
const Heads = memo(function Heads({ project, columns, heading, cursor, opened, first, last, pitch }: HeadsProps) {
  const { t } = useSay();
  const { zone } = useSettings();
  const now = useNow(columns.some((c) => isLive(c.state)));
  const times = useMemo(() => columns.map((c) => lasted(c, now)), [columns, now]);
  const [top, median] = useMemo(() => {
    const known = times.filter((ms) => ms !== undefined);
    const middle = percentile(known, 50);
    // One that takes for ever must not flatten all others: its bar is cut, and says so by its broken end.
    return [Math.max(1, Math.min(Math.max(...known, 0), tallest * (middle ?? 0))), middle];
  }, [times]);
  const inSight = columns.slice(first, last + 1);
  return (
    <div role="rowgroup" className="grid-heads" style={{ width: `calc(var(--grid-names) + ${columns.length * pitch + 8}px)` }}>
      <div role="row" aria-rowindex={1} data-row={-1}>
        <div className="grid-corner" role="columnheader" aria-colindex={1}>
          {heading}
        </div>
        {median !== undefined && (
          <span
            className="grid-median"
            aria-hidden="true"
            style={{ bottom: `calc(var(--grid-foot) + ${(median / top) * 100} * var(--grid-bars) / 100)` }}
          />
        )}
        {inSight.map((c, i) => {
          const at = first + i;
          const ms = times[at];
          const trigger = triggerOf(t, c.trigger);
          const when = moment(c.scheduled ?? c.created, zone);
          const about = t("grid.column", {
            id: c.id,
            state: word(t, "state", c.state),
            took: ms === undefined ? "–" : duration(ms),
            trigger: trigger.word,
            n: c.version,
            when,
          });
          const turn = at > 0 && columns[at - 1]?.version !== c.version;
          return (
            <div
              key={c.id}
              id={spotId({ row: -1, column: at })}
              role="columnheader"
              aria-colindex={at + 2}
              className={cursor === at ? "grid-column at" : "grid-column"}
              data-open={opened === c.id}
              data-column={at}
              style={{ left: `calc(var(--grid-names) + ${at * pitch}px)` }}
            >
              {turn && (
                <span className="grid-version num" aria-hidden="true">
                  {t("common.version", { n: c.version })}
                </span>
              )}
              <Link
                to="/p/$project/r/$id"
                params={{ project, id: c.id }}
                tabIndex={-1}
                aria-label={about}
                title={about}
                draggable={false}
                onClick={(event) => {
                  // Chosen, and not left for.
                  if (event.ctrlKey || event.metaKey || event.shiftKey) event.preventDefault();
                }}
              >
                <span className="grid-bar" aria-hidden="true">
                  <i
                    data-cut={(ms ?? 0) > top || undefined}
                    style={{ height: `${ms === undefined ? 0 : Math.min(100, Math.max(3, (ms / top) * 100))}%` }}
                  />
                </span>
                <span className={classOf(c.state)} aria-hidden="true" />
                {/* Signs for the eye, drawn by the style: the link's name says the same in words. */}
                <span className="grid-trigger" aria-hidden="true" data-sign={trigger.letter} />
                <span className="grid-id mono" aria-hidden="true" data-sign={c.id.slice(-3)} />
              </Link>
            </div>
          );
        })}
      </div>
    </div>
  );
});
