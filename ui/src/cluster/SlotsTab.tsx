import { SegmentedControl } from "@mantine/core";
import { useMemo, useState } from "react";
import type { Pulse } from "../api/cluster";
import { type Cell, cellsOf, type Marks, marksOf } from "../domain/cluster/slots";
import { millis } from "../domain/format";
import { useSay } from "../i18n";
import { Guarded } from "../parts/Guarded";
import { StateIcon } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import type { ClusterSearch } from "../searchCluster";
import { causeWords } from "./causeWords";
import { seconds } from "./Heard";
import { LastChange } from "./LastChange";
import { Masters } from "./Masters";
import { SlotDrawer } from "./SlotDrawer";
import { SlotMap } from "./SlotMap";
import { SlotTable } from "./SlotTable";

/** maxMapped is how many slots a map has room for: beyond it a cell says less than a row of the table. */
const maxMapped = 2048;

interface Props {
  pulse: Pulse;
  search: ClusterSearch;
  set: (part: ClusterSearch, replace?: boolean) => void;
  why: string | undefined; // why only to look is allowed
}

/** SlotsTab is who has which slots, how that came about, and the masters. */
export function SlotsTab({ pulse, search, set, why }: Props) {
  const { t } = useSay();
  const { slots } = pulse;
  // The pulse is another object each second; the slots in it rarely are others.
  const key = JSON.stringify([slots.members, slots.owners, slots.overloaded, slots.preparing?.members, slots.preparing?.owners]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: key is all that the cells are made of
  const cells = useMemo(() => cellsOf(slots), [key]);
  const [known, setKnown] = useState<Marks>(new Map());
  const marks = marksOf(known, [...pulse.masters.map((m) => m.name), ...slots.members]);
  if (marks !== known) setKnown(marks);
  const [pointed, setLit] = useState<string>();
  // The row under the mouse may go without the mouse having left it.
  const lit = pulse.masters.some((m) => m.name === pointed) ? pointed : undefined;
  const unowned = useUnowned(cells, pulse.at);
  const moving = cells.filter((c) => c.next !== undefined).length;
  const full = cells.filter((c) => c.full).length;
  const asTable = search.view === "table" || cells.length > maxMapped;
  const open = search.slot === undefined ? undefined : cells[Number(search.slot)];
  return (
    <div className="slots-tab">
      <section className="slots-part">
        <div className="part-head">
          <h2>{t("cluster.slots", { count: cells.length })}</h2>
          {cells.length <= maxMapped && (
            <SegmentedControl
              aria-label={t("cluster.view")}
              value={asTable ? "table" : "map"}
              onChange={(v) => set({ view: v === "table" ? "table" : undefined })}
              data={[
                { value: "map", label: t("cluster.map") },
                { value: "table", label: t("cluster.table") },
              ]}
            />
          )}
          <span className="push">
            <Guarded variant="default" why={why} disabled={slots.epoch === 0} onClick={() => set({ do: "rebalance" })}>
              {t("cluster.rebalance")}
            </Guarded>
          </span>
        </div>
        <p className="slot-news" role="status">
          {unowned.count > 0 && (
            <span className="state-word text-failed">
              <StateIcon state="failed" size={14} />
              {t("cluster.unowned", { count: unowned.count, time: seconds(unowned.seconds * 1000) })}
            </span>
          )}
          {full > 0 && (
            <span className="warning">
              <StateIcon state="late" size={14} /> {t("cluster.full", { count: full })}
            </span>
          )}
          {moving > 0 && <span>{t("cluster.moving", { count: moving })}</span>}
          {slots.preparing && (
            <span>
              {t("cluster.preparing", { epoch: slots.preparing.epoch, when: "", cause: causeWords(t, slots.preparing.cause) }).replace(
                "  ",
                " ",
              )}{" "}
              <span className="faint">
                <Ago at={slots.preparing.at} />
              </span>{" "}
              {slots.preparing.missing.length > 0 && t("cluster.missing", { masters: slots.preparing.missing.join(", ") })}
            </span>
          )}
          {unowned.count + moving + full === 0 && !slots.preparing && <span className="faint">{t("cluster.slotsAbout")}</span>}
        </p>
        {cells.length > maxMapped && <p className="faint">{t("cluster.tooMany", { count: cells.length })}</p>}
        {asTable ? (
          <SlotTable cells={cells} marks={marks} onOpen={(slot) => set({ slot: String(slot) })} />
        ) : (
          <SlotMap
            cells={cells}
            marks={marks}
            lit={lit}
            seconds={unowned.seconds}
            onLit={setLit}
            onOpen={(slot) => set({ slot: String(slot) })}
          />
        )}
      </section>
      <div className="masters-part">
        <section>
          <h2>{t("cluster.mastersTitle")}</h2>
          <Masters pulse={pulse} marks={marks} lit={lit} onLit={setLit} onKill={(kill) => set({ kill })} why={why} />
        </section>
        <LastChange pulse={pulse} />
      </div>
      <SlotDrawer cell={open} onClose={() => set({ slot: undefined }, true)} />
    </div>
  );
}

/** useUnowned counts the slots that nobody has, and the seconds since this page saw the first of them. */
function useUnowned(cells: Cell[], at: string): { count: number; seconds: number } {
  const [since, setSince] = useState<number>();
  const count = cells.filter((c) => c.owner === undefined).length;
  const now = millis(at);
  if (count > 0 && since === undefined) setSince(now);
  if (count === 0 && since !== undefined) setSince(undefined);
  return { count, seconds: since === undefined || now === undefined ? 0 : Math.floor((now - since) / 1000) };
}
