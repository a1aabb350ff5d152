import "./trial.css";
import { ActionIcon, Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Play, X } from "lucide-react";
import { Suspense, useEffect, useMemo, useRef, useState } from "react";
import { ApiError } from "../../api/error";
import { type Cases, casesQuery, saveCases, type Trial, type TrialWish, tryOut } from "../../api/trial";
import { useSay } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { piece } from "../../parts/piece";
import { useDoc, useDocument } from "../context";
import type { Origin } from "../origin";
import { useSaved } from "../versions/context";
import { useMayEdit } from "../versions/SaveBar";
import { begunWith, firstCases, keepCases, keptCases, offsetOf } from "./cases";
import { Results } from "./Results";
import { back, forth, stepsFrom, typed } from "./steps";

const FieldEditor = piece(() => import("../code/EditorCode").then((m) => m.FieldEditor));

interface Props {
  origin: Origin;
  onClose: () => void;
}

/** TrialPanel tries the workflow out as it stands in the editor: cases on one side, what came of them on the other. */
export function TrialPanel({ origin, onClose }: Props) {
  // A workflow that is on this page alone has no cases on the server.
  const there = useSaved((s) => s.version > 0 || s.draft !== undefined);
  const saved = useQuery({ ...casesQuery(origin.project, origin.workflow), enabled: there });
  if (saved.isError) return <ErrorView error={saved.error} retry={() => void saved.refetch()} />;
  if (there && saved.isPending) return <SkeletonRows />;
  return <Loaded origin={origin} saved={saved.data ?? none} there={there} onClose={onClose} />;
}

const none: Cases = { text: "", revision: 0 };

function Loaded({ origin, saved, there, onClose }: Props & { saved: Cases; there: boolean }) {
  const { t } = useSay();
  const { project, workflow } = origin;
  const doc = useDocument();
  const client = useQueryClient();
  const { may } = useMayEdit(project);
  const text = useDoc((s) => s.history.text);
  const [first] = useState(() => firstCases(doc.state.reading.model.tasks));
  const [begun] = useState(() => begunWith(saved, keptCases(project, workflow), first));
  const [steps, setSteps] = useState(() => stepsFrom(begun.text));
  const [seen, setSeen] = useState(begun.seen);
  const cases = steps.text;
  const dirty = cases !== (saved.revision === 0 ? first : saved.text);
  // Somebody has saved others than those that this text was made from.
  const clash = dirty && seen !== saved.revision;
  const saving = useMutation({
    mutationFn: (over: number) => saveCases({ project, workflow }, cases, over),
    onSuccess: (kept) => {
      setSeen(kept.revision);
      client.setQueryData(casesQuery(project, workflow).queryKey, kept);
    },
    // Whose cases stand in the way is read, and asked about.
    onError: (error) => {
      if (error instanceof ApiError && error.status === 412)
        void client.invalidateQueries({ queryKey: casesQuery(project, workflow).queryKey });
    },
  });
  const refused = saving.error instanceof ApiError && saving.error.status === 412 ? null : saving.error;
  const takeTheirs = () => {
    setSteps((s) => typed(s, saved.text));
    setSeen(saved.revision);
    saving.reset();
  };
  // A caret that is asked for makes the editor anew, with the focus at that place.
  const [caret, setCaret] = useState<{ n: number; at: number }>();
  useEffect(() => {
    const keep = () => keepCases(project, workflow, dirty ? { text: cases, revision: seen } : undefined);
    const timer = setTimeout(keep, 500);
    // A reload waits for no timer.
    window.addEventListener("pagehide", keep);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("pagehide", keep);
      keep();
    };
  }, [project, workflow, cases, seen, dirty]);
  const tried = useMutation({ mutationFn: async (wish: TrialWish) => ({ wish, trial: await tryOut(wish) }) });
  const run = () => tried.mutate({ project, text, cases });
  const latest = useRef(run);
  latest.current = run;
  const done = tried.data;
  const old = done !== undefined && (done.wish.text !== text || done.wish.cases !== cases);
  const problems = useMemo(() => (done && !old ? problemsOf(done.trial, t("trial.expectedGot")) : []), [done, old, t]);
  const own = useMemo(() => ({ undo: () => setSteps(back), redo: () => setSteps(forth) }), []);
  const goTo = (line: number) => setCaret((c) => ({ n: (c?.n ?? 0) + 1, at: offsetOf(cases, line) }));
  return (
    <section
      className="trial"
      aria-label={t("trial.title")}
      onKeyDownCapture={(event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        event.stopPropagation();
        latest.current();
      }}
    >
      <div className="trial-head">
        <h2>{t("trial.title")}</h2>
        <span className="faint trial-note">{t("trial.note")}</span>
        <span className="faint" role="status">
          {saved.updated_by && !dirty && t("trial.savedBy", { name: saved.updated_by })}
          {dirty && !clash && t("editor.unsaved")}
        </span>
        <Button
          variant="default"
          disabled={!there || !may || !dirty || clash}
          title={!there ? t("trial.draftFirst") : undefined}
          loading={saving.isPending}
          onClick={() => saving.mutate(seen)}
        >
          {t("trial.save")}
        </Button>
        <Button leftSection={<Play size={13} />} loading={tried.isPending} onClick={run} title="Ctrl Enter">
          {t("trial.run")}
        </Button>
        <ActionIcon aria-label={t("common.close")} onClick={onClose}>
          <X size={16} />
        </ActionIcon>
      </div>
      {clash && (
        <p className="trial-clash" role="alert">
          {t("trial.clash", { name: saved.updated_by ?? "" })}
          <Button variant="default" onClick={takeTheirs}>
            {t("trial.takeTheirs")}
          </Button>
          <Button variant="default" disabled={!may} loading={saving.isPending} onClick={() => saving.mutate(saved.revision)}>
            {t("trial.overwrite")}
          </Button>
        </p>
      )}
      {refused && <ErrorView error={refused} />}
      <div className="trial-body">
        <div className="trial-text">
          <Suspense fallback={<pre className="code-waiting">{cases}</pre>}>
            <FieldEditor
              key={caret?.n ?? 0}
              begin={caret?.at}
              value={cases}
              onChange={(next) => setSteps((s) => typed(s, next))}
              language="yaml"
              label={t("trial.cases")}
              problems={problems}
              steps={own}
            />
          </Suspense>
        </div>
        <div className="trial-results" tabIndex={0} role="region" aria-label={t("trial.results")}>
          {tried.isError ? (
            <ErrorView error={tried.error} retry={run} />
          ) : done ? (
            <Results trial={done.trial} old={old} onLine={goTo} />
          ) : (
            <p className="faint">{t("trial.empty")}</p>
          )}
        </div>
      </div>
    </section>
  );
}

// What is marked in the text: mistakes of the cases, and expectations that were not met.
function problemsOf(trial: Trial, words: string) {
  const wrong = trial.cases_errors.map((e) => ({ message: e.message, line: e.line }));
  const unmet = trial.cases.flatMap((c) =>
    c.failures.map((f) => ({ message: words.replace("{expected}", f.expected).replace("{got}", f.got), line: f.line ?? c.line })),
  );
  return [...wrong, ...unmet];
}
