import type { Backfill } from "../api/backfills";
import type { Say } from "../i18n";

/** rangeOf says which dates a backfill is about. */
export function rangeOf(t: Say, b: Backfill): string {
  if (!b.from || !b.to) return t("backfills.list", { count: b.progress.total });
  return `${b.from} – ${b.to}${b.cron ? `, ${b.cron}` : b.every === "1h" ? `, ${t("backfills.step.1h")}` : ""}`;
}
