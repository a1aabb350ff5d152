import { dayOf, type Zone } from "../format";

// Days of a calendar, as texts: 2026-03-27. What they are counted with is UTC's calendar, which has no gaps; the moment
// at which one begins is that of its timezone.

const dayMs = 86_400_000;

const utc = (day: string): number => Date.parse(`${day}T00:00:00Z`);
const text = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** plus is the day so many days later. */
export function plus(day: string, days: number): string {
  return text(utc(day) + days * dayMs);
}

/** weekday is 0 for a Monday. */
export function weekday(day: string): number {
  return (new Date(utc(day)).getUTCDay() + 6) % 7;
}

/** daysOf lists the days of a month, such as 2026-03. */
export function daysOf(month: string): string[] {
  const days: string[] = [];
  for (let day = `${month}-01`; day.startsWith(month); day = plus(day, 1)) days.push(day);
  return days;
}

/** monthsOf lists the months of a year. */
export function monthsOf(year: string): string[] {
  return Array.from({ length: 12 }, (_, i) => `${year}-${String(i + 1).padStart(2, "0")}`);
}

/** monthAfter is the month so many months later. */
export function monthAfter(month: string, months: number): string {
  const [y, m] = month.split("-").map(Number);
  const at = (y ?? 0) * 12 + (m ?? 1) - 1 + months;
  return `${String(Math.floor(at / 12)).padStart(4, "0")}-${String((at % 12) + 1).padStart(2, "0")}`;
}

/** isDay says that a text is a day that there is. */
export function isDay(day: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(utc(day)) && text(utc(day)) === day;
}

/** startOf is the first moment of a day in a timezone, which is later than midnight where a clock leaves that out. */
export function startOf(day: string, zone: Zone): number {
  // No offset is more than a day: the first moment of the date is within two of them.
  let before = utc(day) - dayMs;
  let after = utc(day) + dayMs;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dayOf(middle, zone) < day) before = middle;
    else after = middle;
  }
  return after;
}

/** Counts are how many fires of a day are in each state. */
export type Counts = Record<string, number>;

/** late is how much later than due a fire may be, in ms, before a page calls it so: the grace that schedules have unsaid. */
export const late = 30_000;

// What a person must see first of a day, the worst first.
const ranks = ["missed", "duplicate", "late", "skipped", "waiting", "fired", "planned"];

/** worstOf is the state by which a day is shown; undefined where nothing fires. */
export function worstOf(states: Counts, meanLate = 0): string | undefined {
  const has = (state: string) => (state === "late" ? (states.fired ?? 0) > 0 && meanLate > late : (states[state] ?? 0) > 0);
  return ranks.find(has) ?? Object.keys(states).find((s) => (states[s] ?? 0) > 0);
}

/** inOrder are the states of a day with their counts, as a person reads them: the worst first. */
export function inOrder(states: Counts): [string, number][] {
  return Object.entries(states)
    .filter(([, n]) => n > 0)
    .sort(([a], [b]) => ranks.indexOf(a) - ranks.indexOf(b));
}

/** withPlanned adds the fires that the rules foretell to the days; a fire that has its row already is not counted twice. */
export function withPlanned(days: ReadonlyMap<string, Counts>, foretold: readonly string[]): Map<string, Counts> {
  const out = new Map(days);
  const by = new Map<string, number>();
  for (const day of foretold) by.set(day, (by.get(day) ?? 0) + 1);
  for (const [day, n] of by) {
    const there = out.get(day) ?? {};
    out.set(day, { ...there, planned: Math.max(there.planned ?? 0, n) });
  }
  return out;
}
