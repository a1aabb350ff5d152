import { Button } from "@mantine/core";
import { ApiError } from "../api/client";
import { useSay } from "../i18n";
import { StateIcon } from "./StateIcon";

/** ErrorView says in place what went wrong, with the request's id and a way to try again. */
export function ErrorView({ error, retry }: { error: unknown; retry?: () => void }) {
  const { t } = useSay();
  const e = error instanceof ApiError ? error : undefined;
  const text = error instanceof Error ? error.message : String(error);
  const title = e?.status === 0 ? t("error.network") : e?.status === 404 ? t("error.notFound") : t("error.title");
  return (
    <div className="error-view" role="alert">
      <StateIcon state="failed" size={20} />
      <div>
        <strong>{title}</strong>
        {e?.status === 0 ? <p>{t("error.networkHint")}</p> : e?.status === 404 ? null : <p>{text}</p>}
        {e?.status === 403 && <p>{t("error.forbidden")}</p>}
        {e && e.fields.length > 0 && (
          <ul>
            {e.fields.map((f) => (
              <li key={`${f.field} ${f.code}`}>
                <code>{f.field}</code> {f.message}
              </li>
            ))}
          </ul>
        )}
        {e?.requestId && <p className="faint mono">{t("error.requestId", { id: e.requestId })}</p>}
        <div className="error-acts">
          {retry && (
            <Button variant="default" onClick={retry}>
              {t("error.retry")}
            </Button>
          )}
          {e?.status === 404 && <a href={document.baseURI}>{t("nav.home")}</a>}
        </div>
      </div>
    </div>
  );
}

/** Skeleton stands where rows will be. */
export function SkeletonRows({ rows = 4 }: { rows?: number }) {
  const { t } = useSay();
  return (
    <div className="skeleton" role="status" aria-label={t("common.loading")}>
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows have no identity
        <div key={i} />
      ))}
    </div>
  );
}
