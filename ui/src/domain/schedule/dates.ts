// Which dates a backfill runs, as its form holds them.

import { moment } from "../format";
import { type Document, paramTexts } from "./draft";

export const steps = ["1d", "1h", "cron"] as const;
export const onlys = ["all", "missing", "failed", "missing_or_failed"] as const;
export const orders = ["oldest", "newest"] as const;
export const failures = ["continue", "stop"] as const;

export interface Dates {
  as: "range" | "list";
  from: string;
  to: string;
  step: (typeof steps)[number];
  cron: string;
  list: string; // one a line
  timezone: string;
  only: (typeof onlys)[number];
  order: (typeof orders)[number];
  parallel: number;
  onFailure: (typeof failures)[number];
  downstream: boolean;
  params: Record<string, string>;
}

export function fresh(timezone: string): Dates {
  return {
    as: "range",
    from: "",
    to: "",
    step: "1d",
    cron: "",
    list: "",
    timezone,
    only: "all",
    order: "oldest",
    parallel: 1,
    onFailure: "continue",
    downstream: false,
    params: {},
  };
}

/** fromSchedule are the dates of a stretch of days at which a schedule fires, by its clock and with its parameters. What ends or calls fire has no moments of its own: it gets each day. */
export function fromSchedule(s: Pick<Document, "cron" | "at" | "timezone" | "params">, from: string, to: string): Dates {
  const of: Dates = { ...fresh(s.timezone ?? "UTC"), from, to, params: paramTexts(s.params) };
  if (s.cron) return { ...of, step: "cron", cron: s.cron };
  const moments = (s.at ?? []).filter((at) => from <= at.slice(0, 10) && at.slice(0, 10) <= to);
  return moments.length > 0 ? { ...of, as: "list", list: moments.join("\n") } : of;
}

/** pastOf are the days of a stretch of the calendar until today; one that has not begun stays as it is. */
export function pastOf(first: string, last: string, today: string): { from: string; to: string } {
  return { from: first, to: first <= today && today < last ? today : last };
}

/** businessDate is the day before a moment on its calendar: whose data a run of that moment is of, as system.biz.date has it. */
export function businessDate(at: number, zone: string): string {
  const day = Date.parse(`${moment(at, zone).slice(0, 10)}T00:00:00Z`);
  return new Date(day - 86_400_000).toISOString().slice(0, 10);
}

/** Options are what the server is asked for; what stands as it is without a word is left out. */
export interface Options {
  from?: string;
  to?: string;
  every?: "1d" | "1h";
  cron?: string;
  dates?: string[];
  timezone?: string;
  only?: Dates["only"];
  order?: Dates["order"];
  parallel?: number;
  on_failure?: Dates["onFailure"];
  downstream?: boolean;
  params?: Record<string, string>;
}

export function datesOf(d: Dates): Options {
  const out: Options =
    d.as === "list"
      ? {
          dates: d.list
            .split(/[\n,]/)
            .map((x) => x.trim())
            .filter((x) => x !== ""),
        }
      : { from: d.from, to: d.to };
  if (d.as === "range" && d.step === "cron") out.cron = d.cron.trim();
  else if (d.as === "range" && d.step === "1h") out.every = "1h";
  if (d.timezone !== "") out.timezone = d.timezone;
  if (d.only !== "all") out.only = d.only;
  if (d.order !== "oldest") out.order = d.order;
  if (d.parallel > 1) out.parallel = d.parallel;
  if (d.onFailure !== "continue") out.on_failure = d.onFailure;
  if (d.downstream) out.downstream = true;
  if (Object.keys(d.params).length > 0) out.params = d.params;
  return out;
}
