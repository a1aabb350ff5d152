import { expect, it } from "vitest";
import { businessDate, datesOf, fresh, fromSchedule, pastOf } from "./dates";

it("asks for a range, by its days unless it is said otherwise", () => {
  const d = { ...fresh("Europe/Berlin"), from: "2026-03-01", to: "2026-03-14" };
  expect(datesOf(d)).toEqual({ from: "2026-03-01", to: "2026-03-14", timezone: "Europe/Berlin" });
  expect(datesOf({ ...d, step: "1h" }).every).toBe("1h");
  expect(datesOf({ ...d, step: "cron", cron: " 0 5 * * MON " })).toMatchObject({ cron: "0 5 * * MON", from: "2026-03-01" });
});

it("asks for a list alone where there is one, whatever the range says", () => {
  const d = {
    ...fresh(""),
    as: "list" as const,
    from: "2026-03-01",
    step: "1h" as const,
    list: "2026-03-01\n\n 2026-03-05 05:00, 2026-03-07",
  };
  expect(datesOf(d)).toEqual({ dates: ["2026-03-01", "2026-03-05 05:00", "2026-03-07"] });
});

it("says what was chosen", () => {
  const d = {
    ...fresh(""),
    only: "missing_or_failed" as const,
    order: "newest" as const,
    parallel: 4,
    onFailure: "stop" as const,
    downstream: true,
    params: { day: "1" },
  };
  expect(datesOf(d)).toEqual({
    from: "",
    to: "",
    only: "missing_or_failed",
    order: "newest",
    parallel: 4,
    on_failure: "stop",
    downstream: true,
    params: { day: "1" },
  });
});

it("the business date is the day before, on the calendar of the backfill", () => {
  expect(businessDate(Date.parse("2026-03-01T00:00:00Z"), "UTC")).toBe("2026-02-28");
  // Half past midnight in Shanghai is still the evening before in Greenwich.
  expect(businessDate(Date.parse("2026-03-01T16:30:00Z"), "Asia/Shanghai")).toBe("2026-03-01");
  // The day of a change of the clocks has 23 hours.
  expect(businessDate(Date.parse("2026-03-29T22:30:00Z"), "Europe/Berlin")).toBe("2026-03-29");
});

it("takes the moments of a schedule, its clock and its parameters", () => {
  const nightly = { cron: "30 2 * * MON", timezone: "Europe/Berlin", params: { table: "orders", n: 3 } };
  expect(datesOf(fromSchedule(nightly, "2026-03-01", "2026-03-31"))).toEqual({
    from: "2026-03-01",
    to: "2026-03-31",
    cron: "30 2 * * MON",
    timezone: "Europe/Berlin",
    params: { table: "orders", n: "3" },
  });
  const moments = { at: ["2026-02-28 05:00", "2026-03-01", "2026-03-31 23:00", "2026-04-01"] };
  expect(datesOf(fromSchedule(moments, "2026-03-01", "2026-03-31"))).toEqual({
    dates: ["2026-03-01", "2026-03-31 23:00"],
    timezone: "UTC",
  });
  expect(datesOf(fromSchedule({}, "2026-03-01", "2026-03-02"))).toEqual({ from: "2026-03-01", to: "2026-03-02", timezone: "UTC" });
});

it("goes no further than today, unless all of it is to come", () => {
  expect(pastOf("2026-03-01", "2026-03-31", "2026-03-10")).toEqual({ from: "2026-03-01", to: "2026-03-10" });
  expect(pastOf("2026-02-01", "2026-02-28", "2026-03-10")).toEqual({ from: "2026-02-01", to: "2026-02-28" });
  expect(pastOf("2026-04-01", "2026-04-30", "2026-03-10")).toEqual({ from: "2026-04-01", to: "2026-04-30" });
});
