import type { GroupTask } from "../api/settings";
import type { Say } from "../i18n";

/** forcedWords say who gave a task its places beyond the size of its group, and why, where that is known. */
export function forcedWords(t: Say, x: Pick<GroupTask, "forced_by" | "forced_reason">): string {
  if (!x.forced_by) return t("settings.groups.forced");
  const by = t("settings.groups.forcedBy", { who: x.forced_by });
  return x.forced_reason ? `${by}: ${x.forced_reason}` : by;
}
