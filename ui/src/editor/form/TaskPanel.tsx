import "./form.css";
import { ActionIcon } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { PanelRightClose, PanelRightOpen } from "lucide-react";
import { type PointerEvent, useRef } from "react";
import { taskTypesQuery } from "../../api/queries";
import { useSay } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { useDoc } from "../context";
import { BulkForm } from "./BulkForm";
import { bounded, useNarrow, usePanel, widthMax, widthMin } from "./panel";
import { TaskForm } from "./TaskForm";
import { useFieldWish } from "./useFieldWish";
import { useTaskInURL } from "./useTaskInURL";
import { WorkflowForm } from "./WorkflowForm";

/** TaskPanel is the form of the one task that is chosen, of several at once, or the workflow's own. */
export function TaskPanel() {
  const { t } = useSay();
  const { width, open, setWidth, setOpen } = usePanel();
  const over = useNarrow();
  const root = useRef<HTMLElement>(null);
  useTaskInURL();
  const wish = useFieldWish(root, setOpen);
  if (!open) {
    return (
      <aside className="editor-panel closed" aria-label={t("form.panel")} ref={root}>
        <ActionIcon aria-label={t("form.open")} title={t("form.open")} aria-expanded={false} onClick={() => setOpen(true)}>
          <PanelRightOpen size={15} />
        </ActionIcon>
      </aside>
    );
  }
  return (
    <aside className={over ? "editor-panel over" : "editor-panel"} aria-label={t("form.panel")} style={{ width }} ref={root}>
      {!over && <Edge width={width} onWidth={setWidth} />}
      <div className="form-panel">
        <Form wish={wish} />
      </div>
      <ActionIcon className="form-close" aria-label={t("form.close")} title={t("form.close")} aria-expanded onClick={() => setOpen(false)}>
        <PanelRightClose size={15} />
      </ActionIcon>
    </aside>
  );
}

function Form({ wish }: { wish: ReturnType<typeof useFieldWish> }) {
  const tasks = useDoc((s) => s.reading.model.tasks);
  const chosen = useDoc((s) => s.history.selection.tasks);
  const types = useQuery(taskTypesQuery);
  if (types.isError) return <ErrorView error={types.error} retry={() => void types.refetch()} />;
  if (types.isPending) return <SkeletonRows />;
  const names = new Set(chosen);
  const found = tasks.filter((x) => x.name !== "" && names.has(x.name));
  const [one] = found;
  if (one && chosen.length === 1) return <TaskForm key={one.index} task={one} types={types.data} wish={wish} />;
  if (found.length > 1) return <BulkForm key="bulk" tasks={found} types={types.data} />;
  return <WorkflowForm key="workflow" types={types.data} wish={wish} />;
}

/** Edge is the handle that makes the panel wider: by dragging, and by the arrow keys. */
function Edge({ width, onWidth }: { width: number; onWidth: (w: number) => void }) {
  const { t } = useSay();
  const from = useRef<{ x: number; width: number }>(undefined);
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const begun = from.current;
    if (begun) onWidth(begun.width + begun.x - event.clientX);
  };
  return (
    <div
      className="form-edge"
      role="separator"
      aria-orientation="vertical"
      aria-label={t("form.resize")}
      aria-valuenow={bounded(width)}
      aria-valuemin={widthMin}
      aria-valuemax={widthMax}
      tabIndex={0}
      onPointerDown={(event) => {
        from.current = { x: event.clientX, width };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={drag}
      onPointerUp={() => {
        from.current = undefined;
      }}
      onKeyDown={(event) => {
        const step = event.key === "ArrowLeft" ? 20 : event.key === "ArrowRight" ? -20 : 0;
        if (step === 0) return;
        event.preventDefault();
        onWidth(width + step);
      }}
    />
  );
}
