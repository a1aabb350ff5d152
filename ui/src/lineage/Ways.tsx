import { Link, useNavigate } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import type { Lineage, LineageEdge } from "../api/lineage";
import { keyOf, waysAt } from "../domain/lineage";
import { useSay } from "../i18n";
import { Guarded } from "../parts/Guarded";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import { useWhyNot } from "../shell/me";

type Node = Lineage["workflows"][number];

/** WorkflowLink opens a workflow; the project stands before its name. */
export function WorkflowLink({ w }: { w: Node }) {
  return (
    <Link to="/p/$project/w/$workflow" params={{ project: w.project, workflow: w.workflow }}>
      <span className="faint">{w.project} / </span>
      {w.workflow}
    </Link>
  );
}

/** LastOf is what a workflow did last, and when. */
export function LastOf({ w }: { w: Node }) {
  const { t } = useSay();
  if (!w.last) return <span className="faint">{t("lineage.never")}</span>;
  return (
    <span className="standings">
      <Link to="/p/$project/r/$id" params={{ project: w.project, id: w.last.id }}>
        <StateWord state={w.last.state} size={14} />
      </Link>
      <span className="faint">
        <Ago at={w.last.created_at} />
      </span>
    </span>
  );
}

/** Chosen is one workflow with what is right above and below it. */
export function Chosen({ lineage, name, onChoose }: { lineage: Lineage; name: string; onChoose: (name: string) => void }) {
  const { t } = useSay();
  const w = lineage.workflows.find((x) => keyOf(x) === name);
  if (!w) return <p className="faint">{t("lineage.choose")}</p>;
  const { above, below } = waysAt(lineage, name);
  return (
    <div className="stack">
      <div>
        <h2>
          <WorkflowLink w={w} />
        </h2>
        <LastOf w={w} />
      </div>
      <BackfillBelow w={w} waited={below.some((e) => e.kind === "dependent")} />
      <section>
        <h3>{t("lineage.upstream", { workflow: w.workflow })}</h3>
        <Ways lineage={lineage} edges={above} end="from" onChoose={onChoose} />
      </section>
      <section>
        <h3>{t("lineage.downstream", { workflow: w.workflow })}</h3>
        <Ways lineage={lineage} edges={below} end="to" onChoose={onChoose} />
      </section>
    </div>
  );
}

/** BackfillBelow opens the form of a backfill that runs the same dates of what waits for the workflow, too. */
function BackfillBelow({ w, waited }: { w: Node; waited: boolean }) {
  const { t } = useSay();
  const go = useNavigate();
  const why = useWhyNot(w.project)("operator") ?? (waited ? undefined : t("lineage.noWaiter"));
  const params = { project: w.project, workflow: w.workflow };
  return (
    <div>
      <Guarded
        variant="default"
        leftSection={<CalendarClock size={14} />}
        why={why}
        onClick={() => void go({ to: "/p/$project/w/$workflow", params, search: { tab: "backfills", new: "1", down: "1" } })}
      >
        {t("lineage.backfill")}
      </Guarded>
    </div>
  );
}

interface WaysProps {
  lineage: Lineage;
  edges: LineageEdge[];
  end: "from" | "to";
  onChoose: (name: string) => void;
}

function Ways({ lineage, edges, end, onChoose }: WaysProps) {
  const { t } = useSay();
  if (edges.length === 0) return <p className="calm">{t("lineage.none")}</p>;
  return (
    <ul className="ways">
      {edges.map((e) => {
        const w = lineage.workflows[e[end]];
        return (
          w && (
            <li key={`${e.from} ${e.to} ${e.kind} ${e.name}`}>
              <StateIcon state={w.last?.state ?? "waiting"} size={14} />{" "}
              <button type="button" className="link" onClick={() => onChoose(keyOf(w))}>
                {w.project} / {w.workflow}
              </button>{" "}
              <span className="faint">{t(`lineage.kind.${e.kind}`, { name: e.name })}</span>
            </li>
          )
        );
      })}
    </ul>
  );
}
