// Times as a person writes them into a field, in the zone of the page.

import { moment, type Zone } from "../../../domain/format";

/** toWall writes a moment as a date-time field holds it: 2026-03-27T02:04:11. */
export function toWall(at: number, zone: Zone): string {
  return moment(at, zone).slice(0, 19).replace(" ", "T");
}

function offsetAt(at: number, zone: Zone): number {
  const text = moment(at, zone).slice(20);
  const found = /^([+-])(\d\d):(\d\d)/.exec(text);
  if (!found) return 0;
  const minutes = Number(found[2]) * 60 + Number(found[3]);
  return (found[1] === "-" ? -minutes : minutes) * 60_000;
}

/**
 * fromWall reads a date-time field in a zone. An hour that a change of clocks leaves out is read as the one
 * behind it, and of an hour that comes twice the first one is taken. undefined is no time.
 */
export function fromWall(text: string, zone: Zone): number | undefined {
  const plain = Date.parse(`${text}Z`);
  if (text === "" || Number.isNaN(plain)) return undefined;
  // A day on either side has the offsets before and after a change of clocks near it.
  const before = plain - offsetAt(plain - 86_400_000, zone);
  if (toWall(before, zone).startsWith(text)) return before;
  const after = plain - offsetAt(plain + 86_400_000, zone);
  return toWall(after, zone).startsWith(text) ? after : before;
}
