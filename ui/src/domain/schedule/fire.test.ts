import { describe, expect, it } from "vitest";
import { clockOf, mineOf, tooClose } from "./fire";

describe("a fire by two clocks", () => {
  const by = (local: string, zone: string) => mineOf(clockOf(local), Date.parse(local), zone);

  it("tells the two fires of a repeated hour apart by the reader's clock", () => {
    expect(by("2026-10-25T02:30:00+02:00", "Asia/Shanghai")).toBe("08:30 +08:00");
    expect(by("2026-10-25T02:30:00+01:00", "Asia/Shanghai")).toBe("09:30 +08:00");
  });

  it("shows that the hour is repeated where it is the reader's", () => {
    expect(by("2026-10-25T00:30:00Z", "Europe/Berlin")).toBe("02:30 +02:00");
    expect(by("2026-10-25T01:30:00Z", "Europe/Berlin")).toBe("02:30 +01:00");
  });

  it("names the date where it is another", () => {
    expect(by("2026-03-01T20:00:05+01:00", "Asia/Kolkata")).toBe("2026-03-02 00:30:05 +05:30");
  });

  it("says nothing where both clocks agree, which another zone's may for half a year", () => {
    expect(by("2026-03-01T20:00:00Z", "UTC")).toBeUndefined();
    expect(by("2026-01-01T20:00:00Z", "Europe/London")).toBeUndefined();
    expect(by("2026-07-01T20:00:00Z", "Europe/London")).toBe("21:00 +01:00");
  });

  it("shows a moment that it can't read as it came", () => {
    expect(clockOf("soon")).toEqual({ date: "soon", time: "", offset: "" });
  });
});

describe("fires that meet", () => {
  const at = (...minutes: number[]) => minutes.map((m) => ({ at: new Date(m * 60_000).toISOString() }));

  it("are those with less time between two than an instance takes", () => {
    expect(tooClose(at(0, 10, 15, 25), 6 * 60_000)).toBe(5 * 60_000);
    expect(tooClose(at(0, 10, 15, 25), 5 * 60_000)).toBeUndefined();
  });

  it("are not told where nothing is known, and not of what a calendar leaves out", () => {
    expect(tooClose(at(0, 10), undefined)).toBeUndefined();
    expect(tooClose(at(0), 60_000)).toBeUndefined();
    expect(tooClose([], 60_000)).toBeUndefined();
    const [first, left, third] = at(0, 5, 10);
    expect(tooClose([first, { ...left, skip: "calendar" }, third] as { at: string }[], 7 * 60_000)).toBeUndefined();
  });
});
