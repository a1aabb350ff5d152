import { describe, expect, it } from "vitest";
import { monthWord, relative, weekdayWord } from "./spoken";

const hour = 3_600_000;
const gaps = [
  0,
  999,
  1000,
  59_999,
  60_000,
  90_000,
  hour,
  23 * hour,
  24 * hour,
  47 * hour,
  48 * hour,
  72 * hour,
  45 * 24 * hour,
  1234 * 24 * hour,
];

describe.each(["en", "zh-CN"])("in %s", (locale) => {
  it("a span is said as Intl says it", () => {
    const intl = new Intl.RelativeTimeFormat(locale, { style: "short", numeric: "auto" });
    const said = (gap: number) => {
      for (const [unit, size] of [
        ["day", 24 * hour],
        ["hour", hour],
        ["minute", 60_000],
        ["second", 1000],
      ] as const) {
        if (Math.abs(gap) >= size) return intl.format(Math.trunc(gap / size), unit);
      }
      return intl.format(0, "second");
    };
    for (const gap of gaps.flatMap((g) => [g, -g])) expect(relative(1e12 + gap, 1e12, locale)).toBe(said(gap));
  });

  it("months and weekdays have Intl's names", () => {
    const name = (options: Intl.DateTimeFormatOptions, at: number) =>
      new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" }).format(at);
    for (let m = 0; m < 12; m++) {
      expect(monthWord(`2026-${String(m + 1).padStart(2, "0")}`, locale)).toBe(name({ month: "long" }, Date.UTC(2026, m)));
    }
    for (let d = 0; d < 7; d++) {
      const monday = Date.UTC(2026, 2, 2 + d);
      expect(weekdayWord(d, locale)).toBe(name({ weekday: "short" }, monday));
      expect(weekdayWord(d, locale, true)).toBe(name({ weekday: "narrow" }, monday));
    }
  });
});
