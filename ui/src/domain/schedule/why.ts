import type { Explanation } from "../../api/client";

// What the server's reasons about a schedule and its fires mean for its page: which sentence says each, and what stands in it.

/** whyKeys name the sentences; each stands as schedules.say.<name> in every language. */
export const whyKeys = [
  "fires",
  "paused",
  "pausedWhy",
  "unpublished",
  "broken",
  "ended",
  "leftOut",
  "calendar",
  "after",
  "afterGone",
  "webhook",
  "webhookUnsigned",
  "changed",
  "unknown",
  "unplanned",
  "foretold",
  "fire",
] as const;
export type WhyKey = (typeof whyKeys)[number];

/** Said is a sentence's name with what stands in it; codes and moments are for the page to say. */
export interface Said {
  key: WhyKey;
  bad: boolean; // it fires no more, or not as it was meant to
  values: Record<string, string>;
  at?: string; // a moment
  states?: string[];
  fire?: { state: string; reason?: string; instance?: string };
}

const table: Record<string, [WhyKey, boolean]> = {
  schedule_fires: ["fires", false],
  schedule_paused: ["paused", true],
  schedule_unpublished: ["unpublished", true],
  schedule_broken: ["broken", true],
  schedule_ended: ["ended", true],
  schedule_left_out: ["leftOut", true],
  schedule_calendar: ["calendar", false],
  schedule_after: ["after", false],
  schedule_after_gone: ["afterGone", true],
  schedule_webhook: ["webhook", false],
  schedule_webhook_unsigned: ["webhookUnsigned", true],
  schedule_changed: ["changed", false],
  fire_unknown: ["unknown", false],
  fire_unplanned: ["unplanned", false],
  fire_foretold: ["foretold", false],
};

const outcomes = new Set(["planned", "waiting", "fired", "skipped", "missed", "duplicate"]);

/** scheduleSays finds the words for a reason; undefined where this console does not know its code. */
export function scheduleSays(e: Explanation): Said | undefined {
  const { at, states, reason, instance, ...values } = e.args ?? {};
  const state = e.code.startsWith("fire_") ? e.code.slice("fire_".length) : "";
  if (outcomes.has(state)) return { key: "fire", bad: false, values, at, fire: { state, reason, instance } };
  const found = table[e.code];
  if (found === undefined) return undefined;
  const [key, bad] = found;
  return {
    key: key === "paused" && reason !== undefined ? "pausedWhy" : key,
    bad,
    values: { ...values, text: e.text, ...(reason !== undefined && { reason }) },
    at,
    states: states?.split(" or "),
  };
}
