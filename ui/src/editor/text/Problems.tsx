import "./text.css";
import { VisuallyHidden } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight, CircleX, TriangleAlert } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { taskTypesQuery } from "../../api/queries";
import type { Problem } from "../../domain/document/validate";
import { useSay } from "../../i18n";
import { useStay } from "../../parts/useStay";
import { useDoc, useDocument } from "../context";
import type { Document } from "../document";
import { askServer } from "./ask";
import { showField, showRange } from "./go";
import { lastOf, sentenceOf } from "./sentence";
import { type ServerState, watch } from "./validator";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** wholeMax is how many rows stand in the page at once; beyond it only those that are seen. */
const wholeMax = 60;
const rowHeight = 32;

/** Problems is the strip of all that is wrong, each with a way to its place. */
export function Problems() {
  const { t } = useSay();
  const all = useDoc((s) => s.problems.all);
  const [open, setOpen] = useState(false);
  const server = useServer();
  const go = useGo();
  const errors = all.filter((p) => p.severity !== "warning").length;
  return (
    <section className="editor-problems problems" aria-label={t("text.problems")}>
      <div className="problems-head">
        <button
          type="button"
          className="problems-turn"
          aria-expanded={open && all.length > 0}
          disabled={all.length === 0}
          onClick={() => setOpen(!open)}
        >
          <ChevronRight size={14} aria-hidden="true" />
          {t("text.problems")} <span className="num">{all.length}</span>
        </button>
        {!(open && all.length > 0) && (
          <div className="problems-first">
            {all.slice(0, 2).map((p) => (
              <Row key={p.id} problem={p} go={go} />
            ))}
          </div>
        )}
        <State server={server} />
      </div>
      {open && all.length > 0 && <List all={all} go={go} />}
      <VisuallyHidden role="status">{t("text.problemsCount", { count: errors })}</VisuallyHidden>
    </section>
  );
}

function State({ server }: { server: ServerState }) {
  const { t } = useSay();
  const good = useDoc((s) => s.reading.good);
  const line = useDoc((s) => (s.reading.good ? 1 : (s.reading.errors[0]?.line ?? 1)));
  const kind = useDoc((s) => (/^\s*\{/.test(s.history.text) ? "JSON" : "YAML"));
  return (
    <div className="problems-state">
      {server === "away" && <span role="status">{t("text.serverAway")}</span>}
      {server === "signed_out" && <span role="status">{t("text.signedOut")}</span>}
      {good ? <span>{t("text.ok", { kind })}</span> : <span className="problems-broken">{t("text.brokenAt", { line })}</span>}
    </div>
  );
}

function List({ all, go }: { all: readonly Problem[]; go: (p: Problem) => void }) {
  const { t } = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: all.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 8 });
  const virtual = all.length > wholeMax;
  return (
    <div className="problems-list" ref={scroller} role="list" aria-label={t("text.problems")} tabIndex={0}>
      {virtual ? (
        <div style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((item) => {
            const problem = all[item.index];
            return (
              problem && (
                <div key={problem.id} style={{ position: "absolute", insetInline: 0, transform: `translateY(${item.start}px)` }}>
                  <Row problem={problem} go={go} line role="listitem" />
                </div>
              )
            );
          })}
        </div>
      ) : (
        all.map((problem) => <Row key={problem.id} problem={problem} go={go} line role="listitem" />)
      )}
    </div>
  );
}

function Row({ problem, go, line, role }: { problem: Problem; go: (p: Problem) => void; line?: boolean; role?: "listitem" }) {
  const { t } = useSay();
  const warning = problem.severity === "warning";
  const Mark = warning ? TriangleAlert : CircleX;
  const says = sentenceOf(t, problem);
  const where = problem.task ?? t(problem.field === "body" ? "text.text" : "text.workflow");
  return (
    <div className="problem" role={role} data-severity={warning ? "warning" : "error"} title={`${where}: ${says}`}>
      <Mark className="problem-mark" role="img" aria-label={t(warning ? "text.warning" : "text.error")} />
      <span className="problem-task">{where}</span>
      <span className="problem-says">{says}</span>
      {line && <span className="problem-line num">{t("text.line", { line: problem.at.line })}</span>}
      <button
        type="button"
        className="problem-go"
        aria-label={t("text.goTo", { place: `${where} ${lastOf(problem.field)}`.trim() })}
        onClick={() => go(problem)}
      >
        {t("text.go")}
      </button>
    </div>
  );
}

/** useGo leads to a problem: to its line where the text is shown, else to its field in the form. */
function useGo(): (problem: Problem) => void {
  const doc = useDocument();
  const { view = "canvas" } = route.useSearch();
  const navigate = useStay(route.useNavigate());
  return (problem) => {
    if (problem.task !== undefined) doc.select([problem.task]);
    else if (doc.state.reading.good) doc.select([]);
    const inText = view === "text" || view === "split";
    if (!doc.state.reading.good || inText) {
      // Only the text can mend what does not parse.
      if (!inText) void navigate({ search: (s) => ({ ...s, view: "text" }), replace: true });
      showRange(problem.range, true);
      if (view !== "split") return;
    }
    showField({ task: problem.task, path: problem.path });
  };
}

function useServer(): ServerState {
  const doc: Document = useDocument();
  const [state, setState] = useState<ServerState>("asking");
  const { data: forms } = useQuery(taskTypesQuery);
  useEffect(() => {
    if (forms) doc.describe(forms);
  }, [doc, forms]);
  useEffect(() => {
    const after = (ms: number, run: () => void) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    };
    return watch(doc, { ask: askServer, after, tell: setState });
  }, [doc]);
  return state;
}
