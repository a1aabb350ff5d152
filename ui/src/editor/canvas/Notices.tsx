import { useEffect, useRef } from "react";
import { useStore } from "zustand";
import { type Sentence, useSay } from "../../i18n";
import { useDoc, useDocument } from "../context";
import { mistakeOf } from "../text/sentence";
import { Refusal } from "./Refusal";
import type { CanvasStore } from "./ui";

interface Props {
  ui: CanvasStore;
  locked: string | undefined;
  empty: boolean;
  onAdd: () => void;
}

/** Notices are the words on the canvas: why it is locked, how to begin, what was refused, what was done. */
export function Notices({ ui, locked, empty, onAdd }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const reading = useDoc((s) => s.reading);
  const said = useStore(ui, (s) => s.said);
  useSteps(ui);
  const error = reading.good ? undefined : reading.errors[0];
  return (
    <>
      {error && (
        <div className="canvas-veil">
          <p className="canvas-notice" role="status">
            {t("canvas.broken", { line: error.line, message: mistakeOf(t, error) })}
            <button type="button" className="link" onClick={() => doc.undo()}>
              {t("editor.undo")}
            </button>
          </p>
        </div>
      )}
      {!error && locked !== undefined && <p className="canvas-notice canvas-locked">{locked}</p>}
      {empty && locked === undefined && (
        <button type="button" className="ghost-node" onClick={onAdd}>
          {t("canvas.ghost")}
        </button>
      )}
      <Refusal />
      <p id="canvas-keys" hidden>
        {t("canvas.keysHint")}
      </p>
      <p className="hear-only" aria-live="polite" data-testid="canvas-said">
        {said}
      </p>
    </>
  );
}

const steps: Record<string, Sentence> = {
  add: "canvas.stepAdd",
  insert: "canvas.stepInsert",
  remove: "canvas.stepRemove",
  rename: "canvas.stepRename",
  connect: "canvas.stepConnect",
  disconnect: "canvas.stepDisconnect",
  reconnect: "canvas.stepReconnect",
  move: "canvas.stepMove",
  paste: "canvas.stepPaste",
  duplicate: "canvas.stepDuplicate",
};

// Undo and redo are called from everywhere: what they did is told by the history itself.
function useSteps(ui: CanvasStore): void {
  const { t } = useSay();
  const history = useDoc((s) => s.history);
  const before = useRef(history);
  useEffect(() => {
    const last = before.current;
    before.current = history;
    const [back, on] = [last.future[0] === history.past.at(-1), history.future[0] === last.past.at(-1)];
    const entry = history.future.length > last.future.length && on ? history.future[0] : undefined;
    const again = history.future.length < last.future.length && back ? history.past.at(-1) : undefined;
    const one = entry ?? again;
    if (!one) return;
    const what = t(steps[one.label] ?? "canvas.stepEdit");
    ui.setState({ said: t(entry ? "canvas.saidUndone" : "canvas.saidRedone", { what }) });
  }, [history, t, ui]);
}
