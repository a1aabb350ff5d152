import type { ListenerFilter } from "../api/listeners";
import { presetOf } from "../domain/listen/filter";
import { useSay } from "../i18n";

/** Hears says in a few words what a listener is told of. */
export function Hears({ filter }: { filter: ListenerFilter }) {
  const { t } = useSay();
  const { preset, own } = presetOf(filter);
  if (preset !== "own") return <span>{t(`listeners.preset.${preset}`)}</span>;
  const words = [own.events, own.workflows, filter.schedules ?? [], own.tasks, own.states, filter.reasons ?? []]
    .filter((list) => list.length > 0)
    .map((list) => list.join(", "));
  const text = [...words, ...(own.when === "" ? [] : [own.when])].join(" · ");
  return <span title={text}>{text || t("listeners.all")}</span>;
}
