import type { Fan } from "../domain/fan";
import { type Say, useSay, word } from "../i18n";
import { StateIcon } from "./StateIcon";

/** fanWords says how far a fan-out is: "6 of 10: 1 failed, 4 success". */
export function fanWords(t: Say, { made, items, counts }: Fan): string {
  const of = t("graph.fan", { made, items });
  return counts.length === 0 ? of : `${of}: ${counts.map(([state, n]) => `${n} ${word(t, "state", state)}`).join(", ")}`;
}

/** FanCounts is a fan-out in the width of a node: how many are made, and how many are in which state. */
export function FanCounts({ fan }: { fan: Fan }) {
  const { t } = useSay();
  return (
    <span className="num" title={fanWords(t, fan)}>
      {fan.made}/{fan.items}
      {fan.counts.map(([state, n]) => (
        <span key={state} className="fan-count">
          {" "}
          <StateIcon state={state} size={10} /> {n}
        </span>
      ))}
    </span>
  );
}
