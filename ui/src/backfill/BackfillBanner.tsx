import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { backfillQuery, type OfWorkflow } from "../api/backfills";
import { useSay } from "../i18n";
import { Bar } from "./Bar";
import "./backfill.css";

/** BackfillBanner says on a workflow's page that a backfill of it is under way, and how far it is. It goes when that is over. */
export function BackfillBanner({ of, id }: { of: OfWorkflow; id: string }) {
  const { t } = useSay();
  const b = useQuery(backfillQuery(of, id)).data;
  if (!b?.active) return null;
  return (
    <p className="backfill-banner">
      <Link to="/p/$project/w/$workflow" params={of} search={{ tab: "backfills", id }}>
        {t("backfills.under", { id })}
      </Link>
      <Bar b={b} />
    </p>
  );
}
