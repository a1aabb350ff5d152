import type { FieldError } from "../api/client";
import { useSay } from "../i18n";
import { ofCode } from "../i18n/codes";

/** maxShown bounds the lines: who has more has to look at the text. */
const maxShown = 20;

/** ImportFindings lists what is wrong with a text, with its lines. */
export function ImportFindings({ list }: { list: readonly FieldError[] }) {
  const { t } = useSay();
  if (list.length === 0) return null;
  return (
    <ul className="import-findings">
      {list.slice(0, maxShown).map((e) => (
        <li key={`${e.field} ${e.code} ${e.line ?? 0} ${e.value ?? ""}`}>
          {e.line !== undefined && e.line > 0 && <span className="faint num">{t("account.import.line", { line: e.line })} </span>}
          {e.field && <code>{e.field}</code>} {ofCode(t, e, "text.p") ?? (e.message || e.code)}
        </li>
      ))}
      {list.length > maxShown && <li className="faint">{t("account.import.more", { count: list.length - maxShown })}</li>}
    </ul>
  );
}
