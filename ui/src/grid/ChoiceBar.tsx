import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Suspense, useState } from "react";
import type { GridOf } from "../api/grid";
import type { Chosen } from "../domain/grid/choice";
import { useSay } from "../i18n";
import { Guarded } from "../parts/Guarded";
import { piece } from "../parts/piece";
import "../instance/list/list.css";

const CellsDialog = piece(() => import("./CellsDialog").then((m) => m.CellsDialog));

interface Props {
  of: GridOf;
  chosen: Chosen[];
  why: string | undefined; // why the role may change nothing
  onLog: (id: string, task: string) => void;
  onClear: () => void;
}

/** maxNamed bounds the instances that the bar names. */
const maxNamed = 4;

/** ChoiceBar stands below the grid while cells are chosen: what they are, and what can be asked of them. */
export function ChoiceBar({ of, chosen, why, onLog, onClear }: Props) {
  const { t } = useSay();
  const [verb, setVerb] = useState<"rerun" | "force_success">();
  const [log, setLog] = useState(0);
  const cells = chosen.flatMap(({ id, tasks }) => tasks.map((task) => ({ id, task })));
  const tasks = new Set(cells.map((c) => c.task));
  const [one] = tasks;
  const ids = chosen.map((c) => c.id);
  const at = cells[log % cells.length];
  const [first, second] = ids;
  return (
    <section className="bulk-bar" aria-label={t("grid.chosenBar")}>
      <strong role="status">{t("grid.chosen", { count: cells.length })}</strong>
      <span className="faint num grid-chosen">
        {tasks.size === 1 ? one : t("grid.tasks", { count: tasks.size })} × {ids.slice(0, maxNamed).join(", ")}
        {ids.length > maxNamed && ` +${ids.length - maxNamed}`}
      </span>
      <span className="push acts">
        <Guarded variant="default" why={why} onClick={() => setVerb("rerun")}>
          {t("grid.rerun")}
        </Guarded>
        <Guarded variant="default" why={why} onClick={() => setVerb("force_success")}>
          {t("grid.force")}
        </Guarded>
        {first !== undefined && second !== undefined && ids.length === 2 && (
          <Button
            variant="default"
            renderRoot={(props) => (
              <Link
                {...props}
                to="/p/$project/r/$id"
                params={{ project: of.project, id: second }}
                search={{ tab: "compare", with: first }}
              />
            )}
          >
            {t("grid.compare")}
          </Button>
        )}
        {at && (
          <Button
            variant="default"
            onClick={() => {
              onLog(at.id, at.task);
              setLog((log + 1) % cells.length);
            }}
          >
            {cells.length === 1 ? t("grid.log") : t("grid.logs", { n: (log % cells.length) + 1, of: cells.length })}
          </Button>
        )}
        <Button variant="subtle" onClick={onClear}>
          {t("instances.clearChoice")}
        </Button>
      </span>
      <Suspense>{verb && <CellsDialog verb={verb} chosen={chosen} onClose={() => setVerb(undefined)} />}</Suspense>
    </section>
  );
}
