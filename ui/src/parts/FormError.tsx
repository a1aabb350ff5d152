import { ApiError } from "../api/error";
import { said } from "../domain/problem";
import { useSay } from "../i18n";
import { ErrorView } from "./ErrorView";

/** FormError says above a form's button what went wrong: in one sentence where there is one for it. */
export function FormError({ error }: { error: unknown }) {
  const { t } = useSay();
  if (error === null || error === undefined) return null;
  const known = said(error, t);
  if (known === undefined) return <ErrorView error={error} />;
  return (
    <p className="form-error" role="alert">
      {known}
      {error instanceof ApiError && error.status >= 500 && error.requestId ? ` (${error.requestId})` : ""}
    </p>
  );
}
