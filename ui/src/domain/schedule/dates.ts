// Which dates a backfill runs, as its form holds them.

import { moment } from "../format";

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
