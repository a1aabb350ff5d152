import type { InstanceEvent } from "../api/client";

// The history as rows: what a filter shows, and how long nothing happened before each.

export interface EventRow {
  e: InstanceEvent;
  gap: number; // since the row above, in ms; 0 for the first
}

/** eventRows keeps the events in which every word of the filter stands somewhere. */
export function eventRows(events: InstanceEvent[], filter: string): EventRow[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows: EventRow[] = [];
  let before: number | undefined;
  for (const e of events) {
    const text = [e.code, e.task, e.state, e.reason, e.message, e.by, e.warning ? "warning" : ""].join(" ").toLowerCase();
    if (!words.every((w) => text.includes(w))) continue;
    const at = Date.parse(e.at);
    rows.push({ e, gap: before === undefined ? 0 : Math.max(0, at - before) });
    before = at;
  }
  return rows;
}
