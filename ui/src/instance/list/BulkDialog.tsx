import { Button, Progress, TextInput } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo, useRef, useState } from "react";
import type { Instance } from "../../api/client";
import { type BulkVerb, sendBulk } from "../../api/commands";
import type { BulkResult } from "../../api/instances";
import type { InstanceFilter } from "../../api/queries";
import { instanceVerbs } from "../../domain/states";
import { type Sentence, useSay, word } from "../../i18n";
import { ErrorView } from "../../parts/ErrorView";
import { Modal } from "../../parts/layers";
import { StateIcon } from "../../parts/StateIcon";
import { runBulk, tally } from "./bulk";
import { maxRows, readAll } from "./Export";

/** BulkTarget is what is told of an instance, and asked of it. */
export type BulkTarget = Pick<Instance, "id" | "round" | "state" | "project" | "workflow">;

export interface BulkIntent {
  verb: BulkVerb;
  force: boolean;
  rows: BulkTarget[] | InstanceFilter; // chosen by hand, or all that matches
}

export const bulkWord = (i: { verb: BulkVerb; force: boolean }): Sentence => (i.force ? "instances.kill" : `act.${i.verb}`);

const resultWords: Record<BulkResult["result"], Sentence> = {
  asked: "instances.asked",
  already: "instances.already",
  refused: "instances.refused",
  forbidden: "instances.forbidden",
  not_found: "instances.notFound",
  unavailable: "instances.unavailable",
};

/** BulkDialog names what will be asked of how many, asks, and says what came of each. */
export function BulkDialog({ intent, onClose }: { intent: BulkIntent | undefined; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Modal
      opened={intent !== undefined}
      onClose={onClose}
      title={intent ? t("instances.bulkTitle", { verb: t(bulkWord(intent)) }) : ""}
      size="lg"
      closeOnClickOutside={false}
    >
      {intent && <Body intent={intent} onClose={onClose} />}
    </Modal>
  );
}

function Body({ intent, onClose }: { intent: BulkIntent; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const [collected, setCollected] = useState(0);
  const [results, setResults] = useState<BulkResult[]>();
  const [running, setRunning] = useState(false);
  const [typed, setTyped] = useState("");
  const stop = useRef(new AbortController());
  const all = useQuery({
    queryKey: ["bulk", intent.rows],
    queryFn: ({ signal }): Promise<{ rows: BulkTarget[]; cut: boolean }> =>
      Array.isArray(intent.rows) ? Promise.resolve({ rows: intent.rows, cut: false }) : readAll(intent.rows, setCollected, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchInterval: false,
  });
  const verb = t(bulkWord(intent));
  const rows = useMemo(() => all.data?.rows ?? [], [all.data]);
  const able = useMemo(() => rows.filter((r) => instanceVerbs(r.state).includes(intent.verb)), [rows, intent.verb]);
  const states = useMemo(() => {
    const by = new Map<string, number>();
    for (const r of rows) by.set(r.state, (by.get(r.state) ?? 0) + 1);
    return [...by];
  }, [rows]);
  const word1 = `${verb} ${rows.length}`;
  const confirmed = intent.verb !== "stop" || typed.trim() === word1;
  const go = async () => {
    setRunning(true);
    setResults([]);
    const targets = rows.map(({ id, round }) => ({ id, round }));
    await runBulk(
      targets,
      (batch) => sendBulk(intent.verb, batch, intent.force),
      (more) => setResults((was) => [...(was ?? []), ...more]),
      stop.current.signal,
    );
    setRunning(false);
    void client.invalidateQueries({ queryKey: ["instances"] });
  };
  if (all.isError) return <ErrorView error={all.error} retry={() => void all.refetch()} />;
  if (all.isPending) return <p role="status">{t("instances.collecting", { count: collected })}</p>;
  if (results) {
    return <Results results={results} rows={rows} running={running} onStop={() => stop.current.abort()} onClose={onClose} />;
  }
  return (
    <form
      className="stack"
      onSubmit={(e) => {
        e.preventDefault();
        if (confirmed && rows.length > 0) void go();
      }}
    >
      <p>{t("instances.bulkCount", { count: rows.length, verb })}</p>
      <p className="bulk-states">
        {states.map(([state, n]) => (
          <span key={state} className="count-pair">
            <StateIcon state={state} size={14} /> {word(t, "state", state)} <b className="num">{n}</b>
          </span>
        ))}
      </p>
      {able.length < rows.length && <p className="warning">{t("instances.bulkUnable", { count: rows.length - able.length })}</p>}
      {all.data.cut && <p className="warning">{t("instances.bulkCut", { count: maxRows })}</p>}
      {intent.verb === "stop" && (
        <TextInput
          data-autofocus
          label={t("instances.typeIt", { word: word1 })}
          value={typed}
          onChange={(e) => setTyped(e.currentTarget.value)}
          autoComplete="off"
        />
      )}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" disabled={!confirmed || able.length === 0}>
          {verb}
        </Button>
      </div>
    </form>
  );
}

interface ResultsProps {
  results: BulkResult[];
  rows: BulkTarget[];
  running: boolean;
  onStop: () => void;
  onClose: () => void;
}

/** maxTold bounds the rows that are named; those that were not asked come first. */
const maxTold = 200;

function Results({ results, rows, running, onStop, onClose }: ResultsProps) {
  const { t } = useSay();
  const by = tally(results);
  const of = useMemo(() => new Map(rows.map((r) => [r.id, r])), [rows]);
  const told = [...results].sort((a, b) => Number(a.result === "asked") - Number(b.result === "asked")).slice(0, maxTold);
  return (
    <div className="stack">
      <Progress value={(results.length / Math.max(1, rows.length)) * 100} aria-label={t("instances.progress")} />
      <p role="status">
        {t("instances.progressOf", { done: results.length, total: rows.length })}
        {[...by].map(([result, n]) => (
          <span key={result} className="bulk-result">
            {t(resultWords[result])} <b className="num">{n}</b>
          </span>
        ))}
      </p>
      <ul className="touched" tabIndex={0} aria-label={t("instances.results")}>
        {told.map((r) => (
          <li key={r.id}>
            <span>
              <Link to="/p/$project/r/$id" params={{ project: of.get(r.id)?.project ?? "", id: r.id }}>
                {of.get(r.id)?.workflow} <span className="mono">{r.id}</span>
              </Link>
            </span>
            <span className={r.result === "asked" || r.result === "already" ? "faint" : "warning"}>
              {t(resultWords[r.result])}
              {r.message ? `: ${r.message}` : ""}
            </span>
          </li>
        ))}
        {results.length > maxTold && <li>…</li>}
      </ul>
      <div className="dialog-end">
        {running ? (
          <Button variant="default" onClick={onStop}>
            {t("instances.stopAsking")}
          </Button>
        ) : (
          <Button onClick={onClose}>{t("common.close")}</Button>
        )}
      </div>
    </div>
  );
}
