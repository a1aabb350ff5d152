import { Button } from "@mantine/core";
import { ArrowDown } from "lucide-react";
import { memo, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from "react";
import { bytes } from "../domain/format";
import { useSay } from "../i18n";
import { logSizes, useSettings } from "../settings";
import { pieces, withLinks } from "./ansi";
import type { Hit } from "./api";
import type { Wish } from "./finder";
import { marked, ranges } from "./marks";
import { type Block, blockAround, lineCount, lineOf, rowAt, rowCount, rowOf, space } from "./shape";
import type { LogSource, LogState } from "./source";

interface Props {
  source: LogSource;
  wish: Wish;
  hits: Map<number, Hit>;
  current: number | undefined; // the line of the hit that the reader is at
  marked: { from: number; to: number } | undefined; // by the address
  goTo: { line: number; turn: number } | undefined; // a new turn goes there again
  onTop: (line: number) => void; // the first line that is seen
  onLine: (line: number, extend: boolean) => void;
}

/** Style is what React takes as a style, and properties of our own. */
type Style = React.CSSProperties & Record<`--${string}`, string | number | undefined>;

/** Anchor is the row that must not move, and how far below the upper edge it is. */
interface Anchor {
  line: number;
  offset: number;
}

/** LogView draws the lines around the place that is read, at most maxRows of them, and keeps that place still. */
export function LogView({ source, wish, hits, current, marked: chosen, goTo, onTop, onLine }: Props) {
  const { t } = useSay();
  const { logWrap, logSize } = useSettings();
  const log = useSyncExternalStore(source.watch, source.get);
  const { shape } = log;
  const size = logSizes[logSize] ?? 12.5;
  const rowHeight = Math.round(size * 1.44);
  const rows = rowCount(shape);
  const scroller = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const anchor = useRef<Anchor | undefined>(undefined);
  const [following, setFollowing] = useState(goTo === undefined);
  const [middle, setMiddle] = useState(goTo?.line); // the line that the block is around; none: the end
  const [seen, setSeen] = useState<number>(); // lines that were there when the end was left
  const [turn, setTurn] = useState(goTo?.turn ?? 0);
  if (goTo && goTo.turn !== turn) {
    setTurn(goTo.turn);
    setMiddle(goTo.line);
    setFollowing(false);
    setSeen(lineCount(shape));
  }
  if (seen === undefined && log.begun && !following) setSeen(lineCount(shape));
  const block = following || middle === undefined ? blockAround(rows, rows - 1) : blockAround(rows, rowOf(shape, middle));

  useEffect(() => {
    source.follow(following);
  }, [source, following]);

  useEffect(() => {
    const from = lineOf(shape, block.first) ?? lineOf(shape, block.first + 1);
    const to = lineOf(shape, block.first + block.count - 1) ?? lineOf(shape, block.first + block.count - 2);
    if (log.begun && log.numbered && from !== undefined && to !== undefined) source.want(from, to);
  }, [source, log.begun, log.numbered, shape, block.first, block.count]);

  // Where somebody wants to go is in the middle of the window.
  const gone = useRef(0);
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || !goTo || gone.current === goTo.turn || rows === 0) return;
    gone.current = goTo.turn;
    anchor.current = { line: goTo.line, offset: Math.max(0, box.clientHeight / 2 - rowHeight) };
  }, [goTo, rows, rowHeight]);

  // Whatever has changed above: what is read stays where it is.
  useLayoutEffect(() => {
    const box = scroller.current;
    if (!box || rows === 0) return;
    if (following) box.scrollTop = box.scrollHeight;
    else hold(box, body.current, anchor.current);
  });

  const scrolled = () => {
    const box = scroller.current;
    const lines = body.current;
    if (!box || !lines) return;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 2 * rowHeight && block.first + block.count === rows;
    if (atEnd !== following) {
      if (following) setSeen(lineCount(shape));
      setFollowing(atEnd);
      setMiddle(atEnd ? undefined : (topLine(box, lines)?.line ?? middle));
    }
    if (atEnd) return;
    const above = lines.offsetTop;
    const height = lines.offsetHeight;
    if (box.scrollTop + box.clientHeight <= above || box.scrollTop >= above + height) {
      const line = lineOf(shape, rowAt(rows, block, above, box.scrollTop, height, rowHeight));
      if (line === undefined) return;
      anchor.current = { line, offset: 0 };
      setMiddle(line);
      onTop(line);
      return;
    }
    const top = topLine(box, lines);
    if (!top) return;
    anchor.current = top;
    onTop(top.line);
    const near = 40 * rowHeight;
    const early = block.first > 0 && box.scrollTop - above < near;
    const late = block.first + block.count < rows && above + height - box.scrollTop - box.clientHeight < near;
    if (early || late) setMiddle(top.line);
  };

  const k = space(rows, rowHeight);
  const style: Style = { fontSize: size, lineHeight: `${rowHeight}px`, "--digits": String(lineCount(shape)).length };
  return (
    <div className="log-box">
      <div
        className={logWrap ? "log wrap" : "log"}
        ref={scroller}
        onScroll={scrolled}
        tabIndex={0}
        role="log"
        aria-label={t("log.lines")}
        aria-live="off"
        style={style}
      >
        <div style={{ height: block.first * k }} />
        <div ref={body} className="log-rows">
          {rowsOf(block).map((row) => {
            const line = lineOf(shape, row);
            if (line === undefined) return <Gap key="gap" log={log} />;
            return (
              <Row
                key={line}
                line={line}
                numbered={log.numbered}
                text={source.line(line)}
                wish={wish}
                hit={hits.get(line)}
                current={line === current}
                chosen={chosen !== undefined && line >= chosen.from && line <= chosen.to}
                onLine={onLine}
              />
            );
          })}
        </div>
        <div style={{ height: Math.max(0, rows - block.first - block.count) * k }} />
      </div>
      {!following && <ToTheEnd fresh={Math.max(0, lineCount(shape) - (seen ?? lineCount(shape)))} onClick={() => setFollowing(true)} />}
    </div>
  );
}

function rowsOf(block: Block): number[] {
  return Array.from({ length: block.count }, (_, i) => block.first + i);
}

function hold(box: HTMLElement, lines: HTMLElement | null, anchor: Anchor | undefined): void {
  if (!anchor || !lines) return;
  const row = lines.querySelector<HTMLElement>(`[data-line="${anchor.line}"]`);
  if (!row) return;
  const off = row.getBoundingClientRect().top - box.getBoundingClientRect().top - anchor.offset;
  if (Math.abs(off) >= 1) box.scrollTop += off;
}

/** topLine is the first line that is seen, whole or in part. */
function topLine(box: HTMLElement, lines: HTMLElement): Anchor | undefined {
  const edge = box.getBoundingClientRect().top;
  const all = lines.children;
  let low = 0;
  let high = all.length - 1;
  while (low < high) {
    const mid = (low + high) >> 1;
    if ((all[mid]?.getBoundingClientRect().bottom ?? 0) > edge) high = mid;
    else low = mid + 1;
  }
  for (const row of [all[low], all[low + 1]]) {
    const line = Number(row instanceof HTMLElement ? row.dataset.line : Number.NaN);
    if (row && line > 0) return { line, offset: row.getBoundingClientRect().top - edge };
  }
  return undefined;
}

function Gap({ log }: { log: LogState }) {
  const { t, locale } = useSay();
  const { gap } = log.shape;
  if (!gap) return null;
  const count = gap.lines_to - gap.lines_from;
  return <div className="log-gap">{t("log.gap", { size: bytes(gap.to - gap.from), lines: count.toLocaleString(locale) })}</div>;
}

interface RowProps {
  line: number;
  numbered: boolean;
  text: string | undefined;
  wish: Wish;
  hit: Hit | undefined;
  current: boolean;
  chosen: boolean;
  onLine: (line: number, extend: boolean) => void;
}

const Row = memo(function Row({ line, numbered, text, wish, hit, current, chosen, onLine }: RowProps) {
  const press = useCallback((e: React.MouseEvent) => onLine(line, e.shiftKey), [line, onLine]);
  return (
    <div className="log-row" data-line={line} data-chosen={chosen || undefined} data-current={current || undefined}>
      {numbered && (
        // A key that goes to every one of them would be in the way: ":123" in the find box does the same.
        <button type="button" className="log-no" tabIndex={-1} onClick={press}>
          {line}
        </button>
      )}
      <span className="log-line">{text === undefined ? " " : <Text text={text} wish={wish} hit={hit} />}</span>
    </div>
  );
});

function Text({ text, wish, hit }: { text: string; wish: Wish; hit: Hit | undefined }) {
  const all = pieces(text);
  const shown = wish.text === "" ? "" : all.map((p) => p.text).join("");
  return (
    <>
      {marked(withLinks(all), ranges(shown, wish, hit)).map((p, i) => {
        const style: Style | undefined = p.color || p.background ? { "--own": p.color, "--own-bg": p.background } : undefined;
        const Tag = p.marked ? "mark" : "span";
        const one = (
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move
          <Tag key={i} className={p.className || undefined} style={style}>
            {p.text}
          </Tag>
        );
        return p.href ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <a key={i} href={p.href} target="_blank" rel="noreferrer noopener">
            {one}
          </a>
        ) : (
          one
        );
      })}
    </>
  );
}

/** ToTheEnd says what came while the reader was elsewhere, and goes there. */
function ToTheEnd({ fresh, onClick }: { fresh: number; onClick: () => void }) {
  const { t } = useSay();
  return (
    <Button variant="default" className="log-end" leftSection={<ArrowDown size={13} />} onClick={onClick}>
      {fresh > 0 ? t("log.new", { count: fresh }) : t("log.end")}
    </Button>
  );
}
