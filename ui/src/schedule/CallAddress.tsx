import { apiBase } from "../api/client";
import { asShell, pathOfCall } from "../domain/schedule/call";
import { useSay } from "../i18n";
import { CopyButton } from "../parts/CopyButton";

/** CallAddress is where a schedule's signed calls go, with the lines that make one. */
export function CallAddress({ id, secret }: { id: string; secret: string }) {
  const { t } = useSay();
  const url = apiBase + pathOfCall(id);
  return (
    <p className="call-address">
      <code>POST {new URL(url).pathname}</code> <CopyButton value={asShell(url, secret)} label={t("schedules.copyCall")} />
    </p>
  );
}
