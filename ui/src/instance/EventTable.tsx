import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef } from "react";
import type { Instance, InstanceEvent } from "../api/client";
import { exact, moment } from "../domain/format";
import { useSay, word } from "../i18n";
import { messageWords } from "../parts/messageWords";
import { StateWord } from "../parts/StateIcon";
import { useSettings } from "../settings";
import { eventRows } from "./history";

interface Props {
  instance: Instance;
  events: InstanceEvent[];
  filter: string;
  onFilter: (text: string) => void;
}

/** EventTable is the history in its order: what happened, how long after the row above, and who asked for it. */
export function EventTable({ instance, events, filter, onFilter }: Props) {
  const { t } = useSay();
  const { zone } = useSettings();
  const scroller = useRef<HTMLDivElement>(null);
  const typed = useDebouncedCallback(onFilter, 200);
  const shown = useMemo(() => eventRows(events, filter), [events, filter]);
  const rows = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => 32, overscan: 8 });
  if (events.length === 0) return <p className="empty">{t("run.noEvents")}</p>;
  const column = (name: string, className: string) => (
    <span role="columnheader" className={className}>
      {name}
    </span>
  );
  return (
    <>
      <div className="event-head">
        <TextInput
          data-filter
          aria-label={t("instance.filterEvents")}
          placeholder={t("instance.filterEvents")}
          defaultValue={filter}
          onChange={(e) => typed(e.currentTarget.value)}
        />
        <span className="faint num">{t("instance.eventsShown", { shown: shown.length, total: events.length })}</span>
        <span className="faint push">
          {instance.owner
            ? t("instance.ownedBy", { owner: instance.owner, epoch: instance.epoch })
            : t("instance.ownedByNone", { epoch: instance.epoch })}
        </span>
      </div>
      <div
        className="table events endless"
        role="table"
        aria-label={t("run.events")}
        aria-rowcount={shown.length + 1}
        ref={scroller}
        tabIndex={0}
      >
        <div role="rowgroup" className="sticky">
          <div className="tr th" role="row">
            {column(t("run.at"), "c-at")}
            {column(t("instance.gap"), "c-gap num")}
            {column(t("run.task"), "c-name")}
            {column(t("run.event"), "c-state")}
            {column(t("runs.reason"), "c-reason")}
          </div>
        </div>
        <div role="rowgroup" style={{ height: rows.getTotalSize(), position: "relative" }}>
          {rows.getVirtualItems().map((v) => {
            const row = shown[v.index];
            if (!row) return null;
            const { e, gap } = row;
            return (
              <div
                key={e.seq}
                className="tr"
                role="row"
                aria-rowindex={v.index + 2}
                style={{ position: "absolute", top: v.start, left: 0, right: 0 }}
              >
                <span role="cell" className="c-at num mono">
                  {moment(Date.parse(e.at), zone, true)}
                </span>
                <span role="cell" className={gap >= 60_000 ? "c-gap num" : "c-gap num faint"}>
                  {gap > 0 ? `+${exact(gap)}` : ""}
                </span>
                <span role="cell" className="c-name">
                  {e.task ?? ""}
                  {e.attempt ? <span className="faint"> {t("run.rootCauseAttempt", { n: e.attempt })}</span> : null}
                </span>
                <span role="cell" className={e.warning ? "c-state warning" : "c-state"}>
                  {e.state ? <StateWord state={e.state} /> : <span>{word(t, "event", e.code)}</span>}
                </span>
                <span role="cell" className="c-reason faint">
                  {[
                    e.reason ? word(t, "reason", e.reason) : "",
                    e.message ? messageWords(t, e.message) : "",
                    e.by ? t("common.by", { name: e.by }) : "",
                  ]
                    .filter((x) => x)
                    .join(" · ")}
                </span>
              </div>
            );
          })}
        </div>
      </div>
    </>
  );
}
