import { isFields } from "./document/read";
import type { Fields, Value } from "./document/tree";

// The tree of a dependent task's check, as a form shows it: one group of items and of groups, which have items only.

export type Join = "all" | "any";

/** Member is one line of a group: an item, or a group of items below it. */
export type Member = { readonly kind: "item"; readonly fields: Fields } | { readonly kind: "group"; readonly group: Group };

/** Group is what all or any of must have succeeded. */
export interface Group {
  readonly join: Join;
  readonly members: readonly Member[];
}

/** groupOf reads a group; undefined is a shape that only the text can show. */
export function groupOf(value: Value | undefined, deep = true): Group | undefined {
  if (value === undefined || value === null) return { join: "all", members: [] };
  if (!isFields(value)) return undefined;
  const [join, ...more] = (["all", "any"] as const).filter((k) => value[k] !== undefined);
  if (more.length > 0) return undefined;
  if (join === undefined) return Object.keys(value).length === 0 ? { join: "all", members: [] } : undefined;
  const list = value[join];
  if (list === null) return { join, members: [] };
  if (!Array.isArray(list)) return undefined;
  const members = list.map((one: Value) => memberOf(one, deep));
  return members.every((m) => m !== undefined) ? { join, members } : undefined;
}

function memberOf(value: Value, deep: boolean): Member | undefined {
  if (!isFields(value)) return undefined;
  if (value.all === undefined && value.any === undefined) return { kind: "item", fields: value };
  const group = deep ? groupOf(value, false) : undefined;
  return group && { kind: "group", group };
}

/** shortMoment cuts a moment of the server's to what a person reads: 2026-03-29 02:00. */
function shortMoment(text: string): string {
  return text.slice(0, 16).replace("T", " ");
}

/** IntervalWords is a date's meaning in moments, with the offset where it changes within. */
export interface IntervalWords {
  readonly from: string;
  readonly to: string;
  readonly count: number;
}

/** intervalWords says from when to when the intervals of a date reach, and how many there are. */
export function intervalWords(intervals: readonly { from: string; to: string }[]): IntervalWords | undefined {
  const [first, last] = [intervals[0], intervals.at(-1)];
  if (!first || !last) return undefined;
  const offset = (text: string) => text.slice(19).replace("Z", "+00:00");
  const [a, b] = [offset(first.from), offset(last.to)];
  return {
    from: a === b ? shortMoment(first.from) : `${shortMoment(first.from)} ${a}`,
    to: `${shortMoment(last.to)} ${b}`,
    count: intervals.length,
  };
}
