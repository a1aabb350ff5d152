import { ActionIcon, Button, SegmentedControl, Select, Switch } from "@mantine/core";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown, Download, X } from "lucide-react";
import { memo, useEffect, useLayoutEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { type Attempt, logURL, readLog } from "../api/client";
import { bytes } from "../domain/format";
import { useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { Took } from "../parts/Times";
import { streams } from "../search";
import { change, useSettings } from "../settings";
import { pieces } from "./ansi";
import { LogBuffer } from "./buffer";

type Stream = (typeof streams)[number];

interface Props {
  id: string;
  task: string;
  attempts: Attempt[];
  attempt: number;
  stream: Stream | undefined;
  onAttempt: (n: number) => void;
  onStream: (stream: Stream | undefined) => void;
  onClose: () => void;
}

/** LogPanel shows the output of one attempt and says how that attempt ended. */
export function LogPanel({ id, task, attempts, attempt, stream, onAttempt, onStream, onClose }: Props) {
  const { t } = useSay();
  const { logWrap } = useSettings();
  const one = attempts.find((a) => a.number === attempt);
  return (
    <section className="log-panel" aria-label={t("log.title", { task })}>
      <div className="log-head">
        <h2>{task}</h2>
        <ActionIcon className="push" aria-label={t("log.close")} onClick={onClose}>
          <X size={16} />
        </ActionIcon>
      </div>
      {one && (
        <p className="log-attempt">
          <StateIcon state={one.state} label={word(t, "state", one.state)} />
          {attempts.length > 1 ? (
            <Select
              aria-label={t("log.attempt")}
              data={attempts.map((a) => ({ value: String(a.number), label: `${a.number}: ${word(t, "state", a.state)}` }))}
              value={String(attempt)}
              onChange={(v) => onAttempt(Number(v))}
              w={150}
            />
          ) : (
            <span>{t("run.rootCauseAttempt", { n: one.number })}</span>
          )}
          <span>
            {one.reason ? word(t, "reason", one.reason) : word(t, "state", one.state)}
            {one.reason === "exit_code" || one.exit_code !== 0 ? ` (${one.exit_code})` : ""}
          </span>
          {one.worker && <span className="faint">{t("run.onWorker", { worker: one.worker })}</span>}
          <Took from={one.started_at} to={one.finished_at} live />
        </p>
      )}
      {one?.message && one.reason !== "exit_code" && <p className="log-message">{one.message}</p>}
      {one ? (
        <>
          <div className="log-tools">
            <SegmentedControl
              aria-label={t("log.lines")}
              data={[{ value: "", label: t("log.both") }, ...streams.map((s) => ({ value: s, label: s }))]}
              value={stream ?? ""}
              onChange={(v) => onStream(streams.find((s) => s === v))}
            />
            <Switch label={t("log.wrap")} checked={logWrap} onChange={(e) => change({ logWrap: e.currentTarget.checked })} />
            <Button
              className="push"
              component="a"
              variant="default"
              href={logURL(id, task, attempt, { limit: "1048576", ...(stream ? { stream } : {}) })}
              download={`${task}-${attempt}.log`}
              leftSection={<Download size={13} />}
            >
              {t("log.download")}
            </Button>
          </div>
          <Output key={`${id}/${task}/${attempt}/${stream ?? ""}`} id={id} task={task} attempt={attempt} stream={stream} wrap={logWrap} />
        </>
      ) : (
        <p className="empty">{t("run.notStarted")}</p>
      )}
    </section>
  );
}

function useBuffer(id: string, task: string, attempt: number, stream: Stream | undefined): LogBuffer {
  const buffer = useMemo(
    () => new LogBuffer((offset, limit, signal) => readLog(id, task, attempt, offset, limit, stream ?? "", signal)),
    [id, task, attempt, stream],
  );
  return buffer;
}

const lineHeight = 18;

function Output({
  id,
  task,
  attempt,
  stream,
  wrap,
}: {
  id: string;
  task: string;
  attempt: number;
  stream: Stream | undefined;
  wrap: boolean;
}) {
  const { t } = useSay();
  const [epoch, setEpoch] = useState(0);
  const fresh = useBuffer(id, task, attempt, stream);
  const buffer = useMemo(
    () => (epoch === 0 ? fresh : new LogBuffer((o, l, s) => readLog(id, task, attempt, o, l, stream ?? "", s))),
    [epoch, fresh, id, task, attempt, stream],
  );
  const log = useSyncExternalStore(buffer.watch, buffer.get);
  const scroller = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const [seen, setSeen] = useState(0);
  const rows = useVirtualizer({
    count: log.lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => lineHeight,
    getItemKey: (i) => log.lines[i]?.number ?? i,
    overscan: 20,
  });
  useEffect(() => {
    const started = buffer;
    void started.begin();
    return () => started.end();
  }, [buffer]);
  const count = log.lines.length;
  useLayoutEffect(() => {
    const box = scroller.current;
    if (following && box && count > 0) rows.scrollToIndex(count - 1, { align: "end" });
  }, [following, count, rows]);
  // Lines put before the first must not move what is read.
  const firstNumber = log.lines[0]?.number ?? 0;
  const lastFirst = useRef(firstNumber);
  useLayoutEffect(() => {
    const grown = lastFirst.current - firstNumber;
    lastFirst.current = firstNumber;
    if (grown > 0 && !following && scroller.current) scroller.current.scrollTop += grown * lineHeight;
  }, [firstNumber, following]);
  const scrolled = () => {
    const box = scroller.current;
    if (!box) return;
    const atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 2 * lineHeight;
    if (atEnd !== following) setFollowing(atEnd);
    if (!atEnd && following) setSeen(count);
    if (box.scrollTop < 40 * lineHeight && log.start > 0) void buffer.before();
  };
  if (log.loading) return <SkeletonRows rows={6} />;
  if (log.error && !log.begun) return <ErrorView error={log.error} retry={() => setEpoch((n) => n + 1)} />;
  const fresher = following ? 0 : Math.max(0, count - seen);
  return (
    <>
      {count === 0 ? (
        <p className="empty">{log.eof ? t("log.empty") : t("log.emptyYet")}</p>
      ) : (
        <div
          className={wrap ? "log wrap" : "log"}
          ref={scroller}
          onScroll={scrolled}
          tabIndex={0}
          role="log"
          aria-label={t("log.lines")}
          aria-live="off"
        >
          <div style={{ height: rows.getTotalSize(), position: "relative" }}>
            {rows.getVirtualItems().map((v) => (
              <div
                key={v.key}
                className="log-line"
                data-index={v.index}
                ref={wrap ? rows.measureElement : undefined}
                style={{ top: v.start }}
              >
                <LineText text={log.lines[v.index]?.text ?? ""} />
              </div>
            ))}
          </div>
        </div>
      )}
      <p className="log-foot faint">
        {log.eof ? t("log.ended", { size: bytes(log.size) }) : following ? t("log.following") : t("log.paused")}
        {!following && count > 0 && (
          <Button variant="default" leftSection={<ArrowDown size={13} />} onClick={() => setFollowing(true)}>
            {fresher > 0 ? t("log.new", { count: fresher }) : t("log.end")}
          </Button>
        )}
      </p>
    </>
  );
}

const LineText = memo(function LineText({ text }: { text: string }) {
  return (
    <>
      {pieces(text).map((p, i) => (
        <span
          // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a line never move
          key={i}
          className={p.className || undefined}
          style={p.color || p.background ? { color: p.color, backgroundColor: p.background } : undefined}
        >
          {p.text}
        </span>
      ))}
    </>
  );
});
