import { useVirtualizer } from "@tanstack/react-virtual";
import { useRef } from "react";
import type { InstanceEvent } from "../api/client";
import { moment } from "../domain/format";
import { useSay, word } from "../i18n";
import { StateWord } from "../parts/StateIcon";
import { useSettings } from "../settings";

/** EventTable is the history in its order, each with what it says and who asked for it. */
export function EventTable({ events }: { events: InstanceEvent[] }) {
  const { t } = useSay();
  const { zone } = useSettings();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({ count: events.length, getScrollElement: () => scroller.current, estimateSize: () => 32, overscan: 8 });
  if (events.length === 0) return <p className="empty">{t("run.noEvents")}</p>;
  return (
    <div
      className="table events endless"
      role="table"
      aria-label={t("run.events")}
      aria-rowcount={events.length}
      ref={scroller}
      tabIndex={0}
    >
      <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
        {rows.getVirtualItems().map((v) => {
          const e = events[v.index];
          if (!e) return null;
          return (
            <div key={e.seq} className="tr" role="row" style={{ position: "absolute", top: v.start, left: 0, right: 0 }}>
              <span role="cell" className="c-at num mono">
                {moment(Date.parse(e.at), zone, true)}
              </span>
              <span role="cell" className="c-name">
                {e.task ?? ""}
                {e.attempt ? <span className="faint"> {t("run.rootCauseAttempt", { n: e.attempt })}</span> : null}
              </span>
              <span role="cell" className="c-state">
                {e.state ? <StateWord state={e.state} /> : <span>{e.code.replaceAll("_", " ")}</span>}
              </span>
              <span role="cell" className="c-reason faint">
                {[e.reason ? word(t, "reason", e.reason) : "", e.message ?? "", e.by ? t("common.by", { name: e.by }) : ""]
                  .filter((x) => x)
                  .join(" · ")}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
