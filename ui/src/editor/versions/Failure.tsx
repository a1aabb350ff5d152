import { Button } from "@mantine/core";
import { ApiError } from "../../api/error";
import { useSay } from "../../i18n";
import { useSaved, useSaving } from "./context";

/** Failure says that a save has failed, until it is tried again or put away; nothing of the work is touched. */
export function Failure() {
  const { t } = useSay();
  const saving = useSaving();
  const phase = useSaved((s) => s.phase);
  if (phase.kind !== "failed") return null;
  const { error, wish } = phase;
  const text =
    error instanceof ApiError && error.status === 0 ? t("error.networkHint") : error instanceof Error ? error.message : String(error);
  const id = error instanceof ApiError ? error.requestId : undefined;
  return (
    <div className="editor-notice" role="alert">
      <span>
        <strong>{t("editor.saveFailed")}</strong> {text} {id && <span className="faint mono">{t("error.requestId", { id })}</span>}
      </span>
      <Button onClick={() => void saving.save(wish)}>{t("editor.tryAgain")}</Button>
      <Button variant="default" onClick={() => saving.settle()}>
        {t("common.close")}
      </Button>
    </div>
  );
}
