import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { type Cell, type Marks, rangesOf, sharesOf } from "../domain/cluster/slots";
import { useSay } from "../i18n";
import { MasterMark } from "./Mark";

/** SlotTable says the same as the map in words; any slot is reached by its number. */
export function SlotTable({ cells, marks, onOpen }: { cells: Cell[]; marks: Marks; onOpen: (slot: number) => void }) {
  const { t } = useSay();
  const [slot, setSlot] = useState("");
  const known = /^\d+$/.test(slot) && Number(slot) < cells.length;
  const open = (event: FormEvent) => {
    event.preventDefault();
    if (known) onOpen(Number(slot));
  };
  return (
    <div className="slot-table">
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.slots", { count: cells.length })}>
        <table className="plain">
          <thead>
            <tr>
              <th>{t("cluster.master")}</th>
              <th className="n">{t("cluster.count")}</th>
              <th>{t("cluster.moves")}</th>
              <th>{t("cluster.which")}</th>
            </tr>
          </thead>
          <tbody>
            {sharesOf(cells).map((s) => (
              <tr key={s.owner ?? ""}>
                <td>
                  <span className={`node-name${s.owner === undefined ? " text-failed" : ""}`}>
                    {s.owner !== undefined && <MasterMark name={s.owner} marks={marks} />}
                    {s.owner ?? t("cluster.nobody")}
                  </span>
                </td>
                <td className="n num">{s.slots.length}</td>
                <td className="num faint">
                  {s.leaving + s.coming > 0 && t("cluster.movesOf", { out: s.leaving, in: s.coming })}{" "}
                  {s.full > 0 && <span className="warning">{t("cluster.full", { count: s.full })}</span>}
                </td>
                <td className="slot-ranges num">{rangesOf(s.slots)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <form className="slot-go" onSubmit={open}>
        <TextInput
          aria-label={t("cluster.slotGo")}
          placeholder={`0-${cells.length - 1}`}
          inputMode="numeric"
          value={slot}
          onChange={(e) => setSlot(e.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={!known}>
          {t("cluster.slotGo")}
        </Button>
      </form>
    </div>
  );
}
