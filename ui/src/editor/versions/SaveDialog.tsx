import { Button, Switch, Textarea } from "@mantine/core";
import { type FormEvent, Suspense, useState } from "react";
import { ApiError } from "../../api/error";
import { useSay } from "../../i18n";
import { ErrorView } from "../../parts/ErrorView";
import { Modal } from "../../parts/layers";
import { piece } from "../../parts/piece";
import { useDoc, useDocument } from "../context";
import type { Origin } from "../origin";
import { useSaved, useSaving } from "./context";

const Tried = piece(() => import("../trial/Tried").then((m) => m.Tried));

/** maxMessage is the longest message of a version, as the server takes it. */
const maxMessage = 500;

/** SaveDialog saves the next version. What is wrong is refused here already, and a draft is offered instead. */
export function SaveDialog({ origin, opened, onClose }: { origin: Origin; opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  const version = useSaved((s) => s.version);
  return (
    <Modal opened={opened} onClose={onClose} title={t("editor.saveAs", { version: version + 1 })}>
      {opened && <Body origin={origin} onClose={onClose} />}
    </Modal>
  );
}

function Body({ origin, onClose }: { origin: Origin; onClose: () => void }) {
  const { t } = useSay();
  const saving = useSaving();
  const doc = useDocument();
  const phase = useSaved((s) => s.phase);
  const errors = useDoc((s) => s.problems.all).filter((p) => p.severity !== "warning").length;
  const [publish, setPublish] = useState(true);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const message = String(new FormData(event.currentTarget).get("message") ?? "").trim();
    const made = await saving.save({ as: "version", publish, message });
    const after = saving.state.phase;
    if (made !== undefined || after.kind === "conflict") onClose();
    // The places of what the server has refused light up behind the dialog.
    else if (after.kind === "failed" && after.error instanceof ApiError) doc.found(doc.state.history.text, after.error.fields);
  };
  const keepDraft = async () => {
    await saving.save({ as: "draft" });
    if (saving.state.phase.kind !== "failed") onClose();
  };
  return (
    <form className="stack" onSubmit={(e) => void submit(e)}>
      {errors > 0 && (
        <p role="alert" className="refused">
          {t("editor.refused", { count: errors })}
        </p>
      )}
      <Textarea
        name="message"
        label={t("editor.message")}
        description={t("editor.messageHint")}
        maxLength={maxMessage}
        autosize
        minRows={2}
        data-autofocus
      />
      <Switch
        label={t("editor.publishNow")}
        description={t("editor.publishHint")}
        checked={publish}
        onChange={(e) => setPublish(e.currentTarget.checked)}
      />
      {publish && errors === 0 && (
        <Suspense>
          <Tried origin={origin} />
        </Suspense>
      )}
      {phase.kind === "failed" && <ErrorView error={phase.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={() => void keepDraft()} loading={phase.kind === "saving"}>
          {t("editor.saveDraft")}
        </Button>
        <Button type="submit" loading={phase.kind === "saving"} disabled={errors > 0}>
          {publish ? t("editor.savePublish") : t("editor.save")}
        </Button>
      </div>
    </form>
  );
}
