import { moment, type Zone } from "../format";

/** Clock is a moment as a clock shows it. */
export interface Clock {
  date: string;
  time: string; // 02:30, with seconds where it has some
  offset: string;
}

/** clockOf reads the server's moment as the schedule's clock shows it: 2026-10-25T02:30:00+01:00. */
export function clockOf(local: string): Clock {
  const found = /^(\d{4}-\d{2}-\d{2})T([\d:]{8})(.*)$/.exec(local);
  const [, date = local, time = "", offset = ""] = found ?? [];
  return { date, time: short(time), offset: offset === "Z" ? "+00:00" : offset };
}

/** mineOf says the same moment by the reader's clock, with the date where that is another; undefined where both clocks agree. */
export function mineOf(there: Clock, at: number, zone: Zone): string | undefined {
  const [date, time, offset] = moment(at, zone).split(" ") as [string, string, string]; // three, of any zone
  if (offset === there.offset) return undefined;
  return `${date === there.date ? "" : `${date} `}${short(time)} ${offset}`;
}

const short = (time: string) => time.replace(/:00$/, "");

/** tooClose is the shortest time between two fires that follow each other, where an instance usually takes longer: they will meet. In ms; undefined where none do. */
export function tooClose(fires: { at: string; skip?: string }[], usually: number | undefined): number | undefined {
  const moments = fires.filter((f) => !f.skip).map((f) => Date.parse(f.at));
  const least = Math.min(...moments.slice(1).map((at, i) => at - (moments[i] ?? at)));
  return usually !== undefined && least < usually ? least : undefined;
}
