// When a schedule fires, as a person says it: every n minutes, at a time of the day, on days of the week or of the
// month, as an expression, at moments, after another workflow, or by a signed call. What the form cannot say stays an
// expression.

export const kinds = ["every", "daily", "weekly", "monthly", "cron", "at", "after", "webhook"] as const;
export type Kind = (typeof kinds)[number];

export const units = ["minute", "hour"] as const;
export type Unit = (typeof units)[number];

export const weekdays = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"] as const;
export type Weekday = (typeof weekdays)[number];

export const ends = ["success", "failed", "stopped"] as const;
export type End = (typeof ends)[number];

/** When holds what was entered for every kind, so that to look at another kind loses nothing. */
export interface When {
  kind: Kind;
  n: number; // every
  unit: Unit;
  time: string; // 02:30, of daily, weekly and monthly
  days: Weekday[];
  day: number; // of the month; 0 is its last
  cron: string;
  dialect: "" | "unix" | "quartz";
  at: string; // moments, one a line
  after: string; // workflow, or project/workflow
  states: End[];
  secret: string; // the name of the one that signs calls
  given: string; // what the body of a call gives: a parameter, a colon and the path of a field, one a line
}

/** Rules are the keys of a schedule that say when it fires. */
export interface Rules {
  cron?: string;
  dialect?: "unix" | "quartz";
  at?: string[] | null;
  after?: { workflow: string; states?: string[] | null };
  webhook?: { secret: string; params?: Record<string, string> };
}

export const blank: When = {
  kind: "daily",
  n: 15,
  unit: "minute",
  time: "02:30",
  days: ["MON", "TUE", "WED", "THU", "FRI"],
  day: 1,
  cron: "",
  dialect: "",
  at: "",
  after: "",
  states: ["success"],
  secret: "",
  given: "",
};

/** byClock says that moments fire it, and not ends or calls, which nobody foretells. */
export function byClock(w: When): boolean {
  return w.kind !== "after" && w.kind !== "webhook";
}

/** foretold says the same of rules: their moments are known before. */
export function foretold(r: Pick<Rules, "after" | "webhook">): boolean {
  return r.after === undefined && r.webhook === undefined;
}

/** rulesOf is what the kind that is chosen says. */
export function rulesOf(w: When): Rules {
  switch (w.kind) {
    case "at":
      return { at: linesOf(w.at) };
    case "after":
      return { after: { workflow: w.after.trim(), states: ends.filter((e) => w.states.includes(e)) } };
    case "webhook": {
      const params = Object.fromEntries(linesOf(w.given).map(parted));
      return { webhook: { secret: w.secret.trim(), ...(Object.keys(params).length > 0 && { params }) } };
    }
    case "cron":
      return { cron: w.cron.trim(), ...(w.dialect === "" ? {} : { dialect: w.dialect }) };
    default:
      return { cron: expressionOf(w) };
  }
}

/** expressionOf is the cron of what was chosen, for who goes on from there by hand. */
export function expressionOf(w: When): string {
  const [hour, minute] = clock(w.time);
  switch (w.kind) {
    case "every":
      return every(w.n, w.unit);
    case "daily":
      return `${minute} ${hour} * * *`;
    case "weekly":
      return `${minute} ${hour} * * ${weekdays.filter((d) => w.days.includes(d)).join(",")}`;
    case "monthly":
      return w.day === 0 ? `0 ${minute} ${hour} L * ?` : `${minute} ${hour} ${w.day} * *`;
    default:
      return w.cron;
  }
}

/** every is a cycle that begins anew with each hour or day where it is a part of one, and else counts from 1970. */
function every(n: number, unit: Unit): string {
  if (unit === "minute") {
    if (n === 1) return "* * * * *";
    return n < 60 && 60 % n === 0 ? `*/${n} * * * *` : `@every ${n}m`;
  }
  if (n === 1) return "0 * * * *";
  return n < 24 && 24 % n === 0 ? `0 */${n} * * *` : `@every ${n}h`;
}

function clock(time: string): [number, number] {
  const found = /^([01]?\d|2[0-3]):([0-5]\d)/.exec(time);
  return found ? [Number(found[1]), Number(found[2])] : [0, 0];
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

/** parted is a line before and behind its first colon. */
function parted(line: string): [string, string] {
  const at = line.indexOf(":");
  return at < 0 ? [line, ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** whenOf finds the words of a schedule's rules; an expression that the form has no words for stays one. */
export function whenOf(r: Rules): When {
  if (r.after) {
    const states = r.after.states ?? [];
    return {
      ...blank,
      kind: "after",
      after: r.after.workflow,
      states: states.length === 0 ? ["success"] : ends.filter((e) => states.includes(e)),
    };
  }
  if (r.webhook) {
    const given = Object.entries(r.webhook.params ?? {}).map(([name, path]) => `${name}: ${path}`);
    return { ...blank, kind: "webhook", secret: r.webhook.secret, given: given.join("\n") };
  }
  if (r.at && r.at.length > 0) return { ...blank, kind: "at", at: r.at.join("\n") };
  const cron = r.cron ?? "";
  const free: When = { ...blank, kind: "cron", cron, dialect: r.dialect ?? "" };
  // An expression of a dialect that was named is its author's: it is left as it stands.
  return r.dialect === undefined ? { ...free, ...spoken(cron) } : free;
}

// The expressions that the form has words for, each with what the words are. A group is there where the form has it.
const forms: [RegExp, (...groups: string[]) => Partial<When>][] = [
  [/^\* \* \* \* \*$/, () => ({ kind: "every", n: 1, unit: "minute" })],
  [/^0 \* \* \* \*$/, () => ({ kind: "every", n: 1, unit: "hour" })],
  [/^\*\/(\d{1,2}) \* \* \* \*$/, (n) => ({ kind: "every", n: Number(n), unit: "minute" })],
  [/^0 \*\/(\d{1,2}) \* \* \*$/, (n) => ({ kind: "every", n: Number(n), unit: "hour" })],
  [/^@every (\d{1,6})([mh])$/, (n, unit) => ({ kind: "every", n: Number(n), unit: unit === "m" ? "minute" : "hour" })],
  [/^(\d{1,2}) (\d{1,2}) \* \* \*$/, (m, h) => ({ kind: "daily", time: timeOf(h, m) })],
  [/^(\d{1,2}) (\d{1,2}) \* \* ([A-Z,]+)$/, (m, h, days = "") => ({ kind: "weekly", time: timeOf(h, m), days: daysIn(days) })],
  [/^(\d{1,2}) (\d{1,2}) (\d{1,2}) \* \*$/, (m, h, day) => ({ kind: "monthly", time: timeOf(h, m), day: Number(day) })],
  [/^0 (\d{1,2}) (\d{1,2}) L \* \?$/, (m, h) => ({ kind: "monthly", time: timeOf(h, m), day: 0 })],
];

/** byCron says that an expression says when it fires, in words or as it stands. */
export function byCron(w: When): boolean {
  return byClock(w) && w.kind !== "at";
}

/** shownCron is the expression of what was chosen, as its field shows it. */
export function shownCron(w: When): { cron: string; dialect: When["dialect"] } {
  return w.kind === "cron" ? w : { cron: expressionOf(w), dialect: "" };
}

/** withCron is what an expression says that was typed: in words where the form has some, and else by itself, letter by letter. */
export function withCron(w: When, cron: string, dialect = shownCron(w).dialect): When {
  return { ...w, kind: "cron", cron, dialect, ...(dialect === "" ? spoken(cron) : {}) };
}

function spoken(cron: string): Partial<When> {
  for (const [form, words] of forms) {
    const found = form.exec(cron);
    const part = found && words(...found.slice(1));
    // What the form would write anew must be what stands there.
    if (part && expressionOf({ ...blank, ...part }) === cron) return part;
  }
  return {};
}

function daysIn(list: string): Weekday[] {
  const named = list.split(",");
  return weekdays.filter((d) => named.includes(d));
}

function timeOf(hour = "", minute = ""): string {
  return `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
}
