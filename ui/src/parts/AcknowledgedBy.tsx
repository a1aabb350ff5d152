import type { Instance } from "../api/client";
import { useSay } from "../i18n";
import { Ago } from "./Times";

/** AcknowledgedBy says who has seen a failure and looks after it; nothing where nobody has. */
export function AcknowledgedBy({ of }: { of: Instance["acknowledged"] }) {
  const { t } = useSay();
  if (!of) return null;
  return (
    <span className="line-note">
      {t("today.acknowledgedBy", { who: of.by })} <Ago at={of.at} />
      {of.note && `: ${of.note}`}
    </span>
  );
}
