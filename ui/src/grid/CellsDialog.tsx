import { Button, Progress, SegmentedControl } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Scope } from "../api/grid";
import type { Chosen } from "../domain/grid/choice";
import { type Sentence, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Modal } from "../parts/layers";
import { StateIcon } from "../parts/StateIcon";
import { type Affected, ask, type CellVerb, inTurn, isStale, look, wishes } from "./affected";

/** most bounds the instances that are asked in one go: each has a preview of its own. */
const most = 50;
/** maxNamed bounds the tasks that are named per instance. */
const maxNamed = 6;

interface Props {
  verb: CellVerb;
  chosen: Chosen[];
  onClose: () => void;
}

const refusals: Record<string, Sentence> = {
  not_finished: "act.notFinished",
  not_skippable: "act.notSkippable",
  not_running: "act.notRunning",
  no_such_task: "act.noSuchTask",
  parent_running: "act.parentRunning",
};

/** CellsDialog lists what a wish about chosen cells would do in each instance, asks, and says what came of each. */
export function CellsDialog({ verb, chosen, onClose }: Props) {
  const { t } = useSay();
  // What was chosen when the dialog opened: news in the grid below must not change what is asked.
  const [all] = useState(() => wishes(verb, chosen.slice(-most)));
  const count = chosen.reduce((sum, c) => sum + c.tasks.length, 0);
  return (
    <Modal
      opened
      onClose={onClose}
      title={t(verb === "rerun" ? "grid.rerunTitle" : "grid.forceTitle", { count })}
      size="lg"
      closeOnClickOutside={false}
    >
      <div className="stack">
        {chosen.length > most && <p className="warning">{t("grid.tooMany", { n: most })}</p>}
        <Body verb={verb} all={all} onClose={onClose} />
      </div>
    </Modal>
  );
}

function Body({ verb, all, onClose }: { verb: CellVerb; all: Chosen[]; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const [scope, setScope] = useState<Scope>("downstream");
  const [wanted, setWanted] = useState(all);
  const [results, setResults] = useState<(unknown | "asked")[]>();
  const [busy, setBusy] = useState(false);
  const preview = useQuery({
    queryKey: ["cells", verb, scope, wanted],
    queryFn: async () => {
      const out: Affected[] = [];
      await inTurn(wanted, async (one, at) => {
        out[at] = await look(verb, scope, one);
      });
      return out;
    },
    staleTime: Number.POSITIVE_INFINITY,
    refetchInterval: false,
    gcTime: 0,
  });
  const able = preview.data?.filter(isAble) ?? [];
  const go = async () => {
    setBusy(true);
    setResults([]);
    await inTurn(able, async (one, at) => {
      const result = await ask(verb, scope, one).then(
        () => "asked",
        (error: unknown) => error,
      );
      setResults((was = []) => Object.assign([...was], { [at]: result }));
    });
    setBusy(false);
    void client.invalidateQueries({ queryKey: ["instance"] });
  };
  if (results) {
    const again = () => {
      setWanted(able.filter((_, i) => results[i] !== "asked"));
      setResults(undefined);
    };
    return <Results able={able} results={results} busy={busy} onAgain={again} onClose={onClose} />;
  }
  const changes = able.reduce((sum, a) => sum + a.changes.length, 0);
  const left = (preview.data?.length ?? 0) - able.length;
  return (
    <>
      {verb === "rerun" ? (
        <SegmentedControl
          aria-label={t("grid.scope")}
          data={[
            { value: "downstream", label: t("grid.scopeDown") },
            { value: "only", label: t("grid.scopeOnly") },
          ]}
          value={scope}
          onChange={(v) => setScope(v === "only" ? "only" : "downstream")}
        />
      ) : (
        <p className="faint">{t("act.forceHint")}</p>
      )}
      {preview.isPending && (
        <>
          <p role="status">{t("grid.looking", { count: wanted.length })}</p>
          <SkeletonRows rows={Math.min(4, wanted.length)} />
        </>
      )}
      {preview.isError && <ErrorView error={preview.error} retry={() => void preview.refetch()} />}
      {preview.data && (
        <>
          <p role="status">
            {t("grid.sum", { count: new Set(able.map((a) => a.id)).size })}{" "}
            <b>{t(verb === "rerun" ? "grid.affected" : "grid.forced", { count: changes })}</b>
          </p>
          <ul className="touched" tabIndex={0} aria-label={t(verb === "rerun" ? "grid.affected" : "grid.forced", { count: changes })}>
            {preview.data.map((a) => (
              <li key={`${a.id} ${a.tasks.join()}`}>
                <span className="mono num">{a.id}</span>
                <What a={a} />
              </li>
            ))}
          </ul>
          {left > 0 && <p className="warning">{t("grid.left", { count: left })}</p>}
        </>
      )}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button disabled={able.length === 0} onClick={() => void go()}>
          {t(verb === "rerun" ? "grid.rerunDo" : "act.force_success")}
        </Button>
      </div>
    </>
  );
}

function isAble(a: Affected): boolean {
  return a.error === undefined && a.refused === undefined && a.changes.length > 0;
}

function What({ a }: { a: Affected }) {
  const { t } = useSay();
  if (a.error !== undefined || a.refused !== undefined) {
    const known = a.refused === undefined ? undefined : refusals[a.refused];
    const why = known ? t(known) : (a.refused ?? (a.error instanceof Error ? a.error.message : String(a.error)));
    return (
      <span className="warning">
        {a.tasks[0]}: {t("grid.impossible", { why })}
      </span>
    );
  }
  if (a.changes.length === 0) return <span className="faint">{t("grid.nothing")}</span>;
  return (
    <span className="affected">
      {a.changes.slice(0, maxNamed).join(", ")}
      {a.changes.length > maxNamed && <span className="faint"> {t("grid.allBelow", { n: a.changes.length - maxNamed })}</span>}
    </span>
  );
}

interface ResultsProps {
  able: Affected[];
  results: unknown[];
  busy: boolean;
  onAgain: () => void;
  onClose: () => void;
}

function Results({ able, results, busy, onAgain, onClose }: ResultsProps) {
  const { t } = useSay();
  const done = results.filter((r) => r === "asked").length;
  return (
    <>
      <Progress
        value={(results.filter((r) => r !== undefined).length / Math.max(1, able.length)) * 100}
        aria-label={t("instances.progress")}
      />
      <p role="status">{t("grid.progress", { done, total: able.length })}</p>
      <ul className="touched" tabIndex={0} aria-label={t("instances.results")}>
        {able.map((a, i) => {
          const r = results[i];
          return (
            <li key={`${a.id} ${a.tasks.join()}`}>
              <span>
                <span className="mono num">{a.id}</span> {a.tasks.slice(0, maxNamed).join(", ")}
              </span>
              {r === "asked" ? (
                <span className="faint">
                  <StateIcon state="success" size={14} /> {t("grid.asked")}
                </span>
              ) : (
                r !== undefined && (
                  <span className="warning">{isStale(r) ? t("act.moved") : r instanceof Error ? r.message : String(r)}</span>
                )
              )}
            </li>
          );
        })}
      </ul>
      <div className="dialog-end">
        {!busy && done < able.length && (
          <Button variant="default" onClick={onAgain}>
            {t("grid.again")}
          </Button>
        )}
        <Button onClick={onClose} loading={busy}>
          {t("common.close")}
        </Button>
      </div>
    </>
  );
}
