import { describe, expect, it } from "vitest";
import { daysOf, inOrder, isDay, monthAfter, monthsOf, plus, startOf, weekday, withPlanned, worstOf } from "./days";

const at = (ms: number) => new Date(ms).toISOString();

describe("days of a schedule's calendar", () => {
  it("counts over months, years and leap days", () => {
    expect(plus("2028-02-28", 1)).toBe("2028-02-29");
    expect(plus("2026-01-01", -1)).toBe("2025-12-31");
    expect(daysOf("2026-02")).toHaveLength(28);
    expect(monthsOf("2026").at(-1)).toBe("2026-12");
    expect(monthAfter("2026-12", 1)).toBe("2027-01");
    expect(monthAfter("2026-01", -1)).toBe("2025-12");
    expect(weekday("2026-03-02")).toBe(0);
    expect(weekday("2026-03-01")).toBe(6);
  });

  it("knows the days that there are", () => {
    expect([isDay("2026-02-28"), isDay("2026-02-30"), isDay("2026-2-1"), isDay("x")]).toEqual([true, false, false, false]);
  });

  it("finds where a day begins, also where its midnight is left out", () => {
    expect(at(startOf("2026-03-29", "UTC"))).toBe("2026-03-29T00:00:00.000Z");
    expect(at(startOf("2026-03-29", "Europe/Berlin"))).toBe("2026-03-28T23:00:00.000Z");
    expect(at(startOf("2026-03-30", "Europe/Berlin"))).toBe("2026-03-29T22:00:00.000Z");
    expect(at(startOf("2026-03-02", "Asia/Kolkata"))).toBe("2026-03-01T18:30:00.000Z");
    // Clocks went from 24:00 of the 1st to 01:00.
    expect(at(startOf("2018-11-04", "America/Sao_Paulo"))).toBe("2018-11-04T03:00:00.000Z");
  });

  it("shows a day by its worst", () => {
    expect(worstOf({})).toBeUndefined();
    expect(worstOf({ fired: 23, missed: 1 })).toBe("missed");
    expect(worstOf({ fired: 23, skipped: 1 })).toBe("skipped");
    expect(worstOf({ fired: 23 }, 31_000)).toBe("late");
    expect(worstOf({ fired: 23, planned: 1 }, 29_000)).toBe("fired");
    expect(worstOf({ unheard: 1 })).toBe("unheard");
    expect(inOrder({ fired: 2, missed: 1, planned: 0 })).toEqual([
      ["missed", 1],
      ["fired", 2],
    ]);
  });

  it("does not count a fire twice that is planned and foretold", () => {
    const days = withPlanned(new Map([["2026-03-01", { fired: 3, planned: 2 }]]), ["2026-03-01", "2026-03-01", "2026-03-02"]);
    expect(days.get("2026-03-01")).toEqual({ fired: 3, planned: 2 });
    expect(days.get("2026-03-02")).toEqual({ planned: 1 });
  });
});
