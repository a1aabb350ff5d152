import type { Schedule } from "../api/schedules";

/** shown is how many fires Today names. */
const shown = 10;
const notAsPlanned = new Set(["late", "missed", "skipped"]);

/** comingFires are the schedules that fire next, the first one first. */
export function comingFires(all: readonly Schedule[]): Schedule[] {
  return all
    .filter((s) => s.enabled && s.next_at)
    .toSorted((a, b) => Date.parse(a.next_at) - Date.parse(b.next_at))
    .slice(0, shown);
}

/** lateFires are the enabled schedules whose last fire came late or started nothing, the newest first. */
export function lateFires(all: readonly Schedule[]): Schedule[] {
  return all
    .filter((s) => s.enabled && notAsPlanned.has(s.last?.state ?? ""))
    .toSorted((a, b) => Date.parse(b.last?.at ?? "") - Date.parse(a.last?.at ?? ""))
    .slice(0, shown);
}
