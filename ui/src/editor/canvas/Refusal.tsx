import { CloseButton } from "@mantine/core";
import type { Refusal as Reason } from "../../domain/document/edit";
import { type Sentence, useSay } from "../../i18n";
import { useDoc, useDocument } from "../context";

const sentences: Record<Reason["code"], Sentence> = {
  broken_text: "canvas.refusedBroken",
  no_such_task: "canvas.refusedNoTask",
  no_such_field: "canvas.refusedNoField",
  name_taken: "canvas.refusedTaken",
  invalid_name: "canvas.refusedName",
  self_edge: "canvas.refusedSelf",
  edge_exists: "canvas.refusedExists",
  no_such_edge: "canvas.refusedNoEdge",
  cycle: "canvas.refusedCycle",
  nothing_to_paste: "canvas.refusedPaste",
};

/** Refusal says why the last command was not done; it stays until the next one, or until it is closed. */
export function Refusal() {
  const { t } = useSay();
  const doc = useDocument();
  const refusal = useDoc((s) => s.refusal);
  return (
    <div role="status" className="refusal-place">
      {refusal && (
        <div className="refusal">
          <span>{t(sentences[refusal.code], refusal.args)}</span>
          <CloseButton aria-label={t("common.close")} onClick={() => doc.refuse(undefined)} />
        </div>
      )}
    </div>
  );
}
