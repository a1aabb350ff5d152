import { ActionIcon, Button, SegmentedControl, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { AArrowDown, AArrowUp, Check, Copy, Download, FileArchive, FileText, Search, WrapText, X } from "lucide-react";
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { bytes } from "../domain/format";
import { type Sentence, useSay } from "../i18n";
import { CopyLink } from "../parts/CopyButton";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { streams, type TaskSearch } from "../search";
import { change, logSizes, useSettings } from "../settings";
import { plain } from "./ansi";
import { downloadURL, type Hit, type Output, rawURL, readWindow, searchLog, zipURL } from "./api";
import { FindBar, Tool } from "./FindBar";
import { Finder, type Wish } from "./finder";
import { LogView } from "./LogView";
import { linesText, parseLines } from "./shape";
import { LogSource, type LogState } from "./source";

type Set = (part: TaskSearch, replace?: boolean) => void;

interface Props {
  output: Output;
  attempts: number;
  line: string | undefined;
  set: Set;
}

/** maxCopied is how many lines go to the clipboard at once. */
const maxCopied = 10_000;
const unwished: Wish = { text: "", regex: false, case: false };

/** useSource reads the output as long as it is shown; a new turn begins anew after an error. */
function useSource(output: Output, turn: number): LogSource {
  const { id, task, attempt, stream } = output;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new turn is a new source
  const source = useMemo(
    () => new LogSource((at, signal) => readWindow({ id, task, attempt, stream }, at, signal)),
    [id, task, attempt, stream, turn],
  );
  useEffect(() => {
    void source.begin();
    return () => source.end();
  }, [source]);
  return source;
}

/** useFinder searches the output. */
function useFinder(output: Output): Finder {
  const { id, task, attempt, stream } = output;
  const finder = useMemo(
    () => new Finder((search, signal) => searchLog({ id, task, attempt, stream }, search, signal)),
    [id, task, attempt, stream],
  );
  useEffect(() => () => finder.end(), [finder]);
  return finder;
}

interface Target {
  line: number;
  turn: number;
}

/** useTarget is where the view goes: to the address's line when that changes, but not when it was chosen in the view. */
function useTarget(line: string | undefined) {
  const [state, setState] = useState<{ line: string | undefined; target: Target | undefined }>(() => {
    const from = parseLines(line)?.from;
    return { line, target: from ? { line: from, turn: 1 } : undefined };
  });
  const to = (from: number | undefined, next: string | undefined) =>
    setState((s) => ({ line: next, target: from ? { line: from, turn: (s.target?.turn ?? 0) + 1 } : s.target }));
  if (state.line !== line) to(parseLines(line)?.from, line);
  const go = useCallback((to: number) => setState((s) => ({ ...s, target: { line: to, turn: (s.target?.turn ?? 0) + 1 } })), []);
  const keep = useCallback((text: string | undefined) => setState((s) => ({ ...s, line: text })), []);
  return { target: state.target, go, keep };
}

/** LogOutput is an output with what can be done about it: find, choose lines, keep it. */
export function LogOutput({ output, attempts, line, set }: Props) {
  const { t } = useSay();
  const [turn, setTurn] = useState(0);
  const source = useSource(output, turn);
  const finder = useFinder(output);
  const log = useSyncExternalStore(source.watch, source.get);
  const find = useSyncExternalStore(finder.watch, finder.get);
  const [finding, setFinding] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const root = useRef<HTMLDivElement>(null);
  const top = useRef(1);
  const { target, go, keep } = useTarget(line);
  const chosen = parseLines(line);
  const [noError, setNoError] = useState(false);
  const hits = useMemo(() => new Map<number, Hit>(find.hits.map((h) => [h.line, h])), [find.hits]);

  const open = useCallback(() => {
    setFinding(true);
    // It may be there already.
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.select();
    });
  }, []);
  useFindKeys(root, open);
  const arrive = (moved: Promise<void>) =>
    void moved.then(() => {
      const hit = finder.current();
      if (hit) go(hit.line);
    });
  const choose = useCallback(
    (at: number, extend: boolean) => {
      const begun = parseLines(line)?.from;
      const text = extend && begun ? linesText(begun, at) : String(at);
      keep(text);
      set({ line: text }, true);
    },
    [line, set, keep],
  );
  const toLine = (at: number) => {
    go(at);
    keep(String(at));
    set({ line: String(at) }, true);
  };
  const nextError = async () => {
    const after = (chosen?.from ?? top.current - 1) + 1;
    const ask = (from: number) => searchLog(output, { errors: true, line: from, limit: 1 });
    const found = (await ask(after)).hits[0] ?? (await ask(1)).hits[0];
    setNoError(!found);
    if (found) toLine(found.line);
  };
  const onTop = useCallback((at: number) => {
    top.current = at;
  }, []);
  if (log.loading) return <SkeletonRows rows={6} />;
  if (log.error && !log.begun) return <ErrorView error={log.error} retry={() => setTurn((n) => n + 1)} />;
  const empty = log.size === 0;
  return (
    <div className="log-output" ref={root}>
      <LogTools
        output={output}
        attempts={attempts}
        searchable={log.numbered && !empty}
        set={set}
        onFind={open}
        onError={() => void nextError().catch(() => setNoError(true))}
      />
      {finding && (
        <FindBar
          find={find}
          field={field}
          onWish={(part) => arrive(finder.wish(part, top.current))}
          onNext={() => arrive(finder.next())}
          onPrevious={() => arrive(finder.previous())}
          onLine={toLine}
          onClose={() => {
            setFinding(false);
            void finder.wish({ text: "" }, 1);
          }}
        />
      )}
      {noError && <p className="log-note">{t("log.nextErrorNone")}</p>}
      {!log.numbered && <p className="log-note">{t("log.tailOnly", { size: bytes(log.size) })}</p>}
      {empty ? (
        <p className="empty">{log.eof ? t("log.empty") : t("log.emptyYet")}</p>
      ) : (
        <LogView
          source={source}
          wish={finding ? find.wish : unwished}
          hits={hits}
          current={finding ? find.hits[find.at]?.line : undefined}
          marked={chosen}
          goTo={log.numbered ? target : undefined}
          onTop={onTop}
          onLine={choose}
        />
      )}
      <Foot
        log={log}
        chosen={chosen}
        onCopy={(from, to) => source.copy(from, Math.min(to, from + maxCopied - 1))}
        onUnmark={() => {
          keep(undefined);
          set({ line: undefined }, true);
        }}
      />
    </div>
  );
}

/** useFindKeys opens the find box by Ctrl+F and / while the panel has the focus. */
function useFindKeys(root: React.RefObject<HTMLDivElement | null>, open: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const panel = root.current?.closest(".log-panel");
      const target = event.target;
      if (!panel || !(target instanceof HTMLElement)) return;
      // With the whole window to itself, nothing else can be meant.
      const inside = panel.contains(target) || (panel.getAttribute("data-full") === "true" && target === document.body);
      const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      const find = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "f";
      if (!inside || !(find || (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey))) return;
      event.preventDefault();
      event.stopPropagation();
      open();
    };
    window.addEventListener("keydown", press, { capture: true });
    return () => window.removeEventListener("keydown", press, { capture: true });
  }, [root, open]);
}

interface ToolsProps {
  output: Output;
  attempts: number;
  searchable: boolean;
  set: Set;
  onFind: () => void;
  onError: () => void;
}

function LogTools({ output, attempts, searchable, set, onFind, onError }: ToolsProps) {
  const { t } = useSay();
  const { logWrap, logSize } = useSettings();
  return (
    <div className="log-tools">
      <SegmentedControl
        aria-label={t("log.lines")}
        data={[{ value: "", label: t("log.both") }, ...streams.map((s) => ({ value: s, label: s }))]}
        value={output.stream ?? ""}
        onChange={(v) => set({ out: streams.find((s) => s === v), line: undefined }, true)}
      />
      <Button variant="default" disabled={!searchable} onClick={onError}>
        {t("log.nextError")}
      </Button>
      <span className="log-icons">
        <Tool word="log.find" disabled={!searchable} onClick={onFind}>
          <Search size={16} />
        </Tool>
        <Tool word="log.wrap" pressed={logWrap} onClick={() => change({ logWrap: !logWrap })}>
          <WrapText size={16} />
        </Tool>
        <span className="log-narrow">
          <Tool word="log.smaller" disabled={logSize === 0} onClick={() => change({ logSize: Math.max(0, logSize - 1) })}>
            <AArrowDown size={16} />
          </Tool>
          <Tool
            word="log.larger"
            disabled={logSize === logSizes.length - 1}
            onClick={() => change({ logSize: Math.min(logSizes.length - 1, logSize + 1) })}
          >
            <AArrowUp size={16} />
          </Tool>
        </span>
        <LinkTool word="log.raw" href={rawURL(output)} aside>
          <FileText size={16} />
        </LinkTool>
        <LinkTool word="log.download" href={downloadURL(output)}>
          <Download size={16} />
        </LinkTool>
        {attempts > 1 && (
          <LinkTool word="log.zip" href={zipURL(output)}>
            <FileArchive size={16} />
          </LinkTool>
        )}
      </span>
    </div>
  );
}

function LinkTool({ word, href, aside, children }: { word: Sentence; href: string; aside?: boolean; children: React.ReactNode }) {
  const { t } = useSay();
  return (
    <Tooltip label={t(word)}>
      <ActionIcon component="a" href={href} aria-label={t(word)} {...(aside ? { target: "_blank", rel: "noopener" } : { download: true })}>
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

interface FootProps {
  log: LogState;
  chosen: { from: number; to: number } | undefined;
  onCopy: (from: number, to: number) => Promise<string[]>;
  onUnmark: () => void;
}

function Foot({ log, chosen, onCopy, onUnmark }: FootProps) {
  const { t, locale } = useSay();
  const clipboard = useClipboard({ timeout: 1500 });
  const count = log.shape.newlines + (log.shape.open ? 1 : 0);
  const values = { count, lines: count.toLocaleString(locale), size: bytes(log.size) };
  const copy = (from: number, to: number) => void onCopy(from, to).then((lines) => clipboard.copy(lines.map(plain).join("\n")));
  return (
    <div className="log-foot">
      <span className="faint">{log.numbered && log.size > 0 && t(log.eof ? "log.ended" : "log.running", values)}</span>
      {chosen && (
        <span className="log-chosen">
          {t(chosen.from === chosen.to ? "log.chosen" : "log.chosenRange", { lines: linesText(chosen.from, chosen.to).replace("-", "–") })}
          <CopyLink />
          <Button
            variant="default"
            leftSection={clipboard.copied ? <Check size={14} /> : <Copy size={14} />}
            onClick={() => copy(chosen.from, chosen.to)}
          >
            {clipboard.copied ? t("common.copied") : t("log.copyLines")}
          </Button>
          <Tool word="log.unmark" onClick={onUnmark}>
            <X size={14} />
          </Tool>
        </span>
      )}
    </div>
  );
}
