import { causesOf } from "../domain/cluster/causes";
import type { Say } from "../i18n";

/** causeWords says why the layout changed, or what a failover is about, in the reader's language. */
export function causeWords(t: Say, text: string): string {
  return causesOf(text)
    .map((c) => (typeof c === "string" ? c : t(`cluster.why.${c.key}`, c.values)))
    .join(t("cluster.why.and"));
}
