import type { Schedule } from "../api/schedules";
import type { Standing } from "../searchSchedule";

const bad = new Set(["missed", "skipped", "duplicate"]);

/** stands says whether a schedule is among those that are asked for: on, off, or with a last fire that started nothing. */
export function stands(s: Schedule, is: Standing | undefined): boolean {
  if (is === undefined) return true;
  return is === "bad" ? bad.has(s.last?.state ?? "") : s.enabled === (is === "on");
}
