import { Link } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { Schedule } from "../api/schedules";
import { foretold } from "../domain/schedule/when";
import { useSay, word } from "../i18n";
import { RowMenu } from "../parts/RowMenu";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { Ago, Due } from "../parts/Times";
import type { ScheduleAct } from "../searchSchedule";
import { useSettings } from "../settings";
import { useWhyNot } from "../shell/me";
import { Outcome, whenWords } from "./words";

interface Calls {
  onAct: (act: ScheduleAct | "resume", s: Schedule) => void;
}

/** Standing says whether a schedule fires, and why not. */
export function Standing({ s }: { s: Schedule }) {
  const { t } = useSay();
  if (!s.enabled) {
    return (
      <span className="standing" title={s.why}>
        <StateWord state="paused" size={14} />
        {s.why && <span className="faint">{s.why}</span>}
      </span>
    );
  }
  return <span className="faint">{t("schedules.on")}</span>;
}

/** NextFire is how far off the next fire is. */
export function NextFire({ s }: { s: Schedule }) {
  const { t } = useSay();
  // The only sign of a pause where the window is narrow.
  if (!s.enabled) return <StateIcon state="paused" label={word(t, "state", "paused")} />;
  if (!foretold(s)) return <span className="faint">–</span>;
  return s.next_at ? <Due at={s.next_at} /> : <span className="faint">{t("schedules.never")}</span>;
}

interface Shown {
  showWorkflow: boolean;
  showProject?: boolean; // before the workflow's name
}

function Row({ s, style, showWorkflow, showProject, onAct }: { s: Schedule; style: React.CSSProperties } & Shown & Calls) {
  const { t, locale } = useSay();
  const why = useWhyNot(s.project);
  const at = { project: s.project, workflow: s.workflow };
  const [edits, runs] = [why("editor"), why("operator")];
  const words = whenWords(t, locale, s);
  const zone = s.timezone ?? "UTC";
  return (
    <div className="tr" role="row" style={style} data-schedule={s.name}>
      <span role="cell" className="c-name">
        <Link to="/p/$project/w/$workflow/s/$schedule" params={{ ...at, schedule: s.name }}>
          {s.name}
        </Link>
      </span>
      {showWorkflow && (
        <span role="cell" className="c-workflow">
          <Link to="/p/$project/w/$workflow" params={at} search={{ tab: "schedules" }} title={s.workflow}>
            {showProject && <span className="faint">{s.project} / </span>}
            {s.workflow}
          </Link>
        </span>
      )}
      <span role="cell" className="c-when" title={`${words}, ${zone}`}>
        {words} {foretold(s) && <span className="faint">{zone}</span>}
      </span>
      <span role="cell" className="c-next num">
        <NextFire s={s} />
      </span>
      <span role="cell" className="c-last">
        {s.last ? (
          <>
            <Outcome fire={s.last} />{" "}
            <span className="faint c-ago">
              <Ago at={s.last.at} />
            </span>
          </>
        ) : (
          <span className="faint">–</span>
        )}
      </span>
      <span role="cell" className="c-standing">
        <Standing s={s} />
      </span>
      <span role="cell" className="c-do">
        <RowMenu
          label={t("schedules.actions", { name: s.name })}
          actions={[
            { label: t("schedules.edit"), run: () => onAct("edit", s), why: edits },
            s.enabled
              ? { label: t("schedules.pause"), run: () => onAct("pause", s), why: runs }
              : { label: t("schedules.resume"), run: () => onAct("resume", s), why: runs },
            { label: t("schedules.trigger"), run: () => onAct("trigger", s), why: runs },
            { label: t("schedules.delete"), run: () => onAct("delete", s), why: edits },
          ]}
        />
      </span>
    </div>
  );
}

/** ScheduleTable keeps only the rows in sight in the page. */
export function ScheduleTable({ list, showWorkflow, showProject, onAct }: { list: Schedule[] } & Shown & Calls) {
  const { t } = useSay();
  const { density } = useSettings();
  const scroller = useRef<HTMLDivElement>(null);
  const size = density === "comfortable" ? 40 : 32;
  const rows = useVirtualizer({ count: list.length, getScrollElement: () => scroller.current, estimateSize: () => size, overscan: 8 });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another density has other rows
  useEffect(() => rows.measure(), [rows, size]);
  const column = (name: string, className?: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <div
      className={showWorkflow ? "table endless schedule-list" : "table endless schedule-list of-one"}
      role="table"
      aria-label={t("schedules.table")}
      aria-rowcount={list.length + 1}
      ref={scroller}
      tabIndex={0}
    >
      <div role="rowgroup" className="sticky">
        <div className="tr th" role="row">
          {column(t("schedules.name"))}
          {showWorkflow && column(t("schedules.workflow"), "c-workflow")}
          {column(t("schedules.when"), "c-when")}
          {column(t("schedules.next"), "c-next")}
          {column(t("schedules.last"), "c-last")}
          {column(t("schedules.standing"), "c-standing")}
          <span role="columnheader">
            <span className="unseen">{t("common.more")}</span>
          </span>
        </div>
      </div>
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((v) => {
          const s = list[v.index];
          return (
            s && (
              <Row
                key={s.id}
                s={s}
                showWorkflow={showWorkflow}
                showProject={showProject}
                style={{ position: "absolute", top: v.start, left: 0, right: 0 }}
                onAct={onAct}
              />
            )
          );
        })}
      </div>
    </div>
  );
}
