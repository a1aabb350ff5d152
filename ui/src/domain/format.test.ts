import { afterAll, describe, expect, it } from "vitest";
import { bytes, clockTime, duration, exact, moment, roundDuration, shortMoment } from "./format";

describe("duration", () => {
  it.each([
    [0, "0 ms"],
    [820, "820 ms"],
    [999.4, "999 ms"],
    [12_400, "12.4 s"],
    [59_949, "59.9 s"],
    [59_990, "1m 00s"],
    [252_000, "4m 12s"],
    [3_840_000, "1h 04m"],
    [183_600_000, "2d 3h"],
    [-1, "–"],
    [Number.NaN, "–"],
  ])("of %d ms is %s", (ms, want) => expect(duration(ms)).toBe(want));
});

describe("a round duration", () => {
  it.each([
    [1_800_000, "30m"],
    [7_200_000, "2h"],
    [86_400_000, "1d"],
    [252_000, "4m 12s"],
    [3_840_000, "1h 04m"],
    [600_000, "10m"],
    [30_000, "30.0 s"],
  ])("of %d ms is %s", (ms, want) => expect(roundDuration(ms)).toBe(want));
});

describe("bytes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1536, "1.5 KiB"],
    [64 * 1024 * 1024, "64 MiB"],
    [150 * 1024 + 7, "150 KiB"],
  ])("of %d is %s", (n, want) => expect(bytes(n)).toBe(want));
});

describe("moment", () => {
  const at = Date.UTC(2026, 2, 26, 18, 4, 11, 7);
  it("prints the offset of its zone", () => {
    expect(moment(at, "Asia/Shanghai")).toBe("2026-03-27 02:04:11 +08:00");
    expect(moment(at, "UTC", true)).toBe("2026-03-26 18:04:11.007 +00:00");
  });
  it("tells the two hours of a clock change apart", () => {
    const first = Date.UTC(2026, 9, 25, 0, 30);
    expect(moment(first, "Europe/Berlin")).toBe("2026-10-25 02:30:00 +02:00");
    expect(moment(first + 3_600_000, "Europe/Berlin")).toBe("2026-10-25 02:30:00 +01:00");
  });
  it("writes midnight as 00, not 24", () => expect(clockTime(Date.UTC(2026, 0, 1), "UTC")).toBe("00:00:00"));
  it("leaves today's date out", () => {
    expect(shortMoment(at, at + 1000, "UTC")).toBe("18:04:11");
    expect(shortMoment(at, at + 86_400_000, "UTC")).toBe("03-26 18:04");
  });
});

describe("the browser's own zone", () => {
  const before = process.env.TZ;
  afterAll(() => {
    process.env.TZ = before;
  });
  // Both ways of saying a time: the quick one of the viewer's own zone, and Intl's of the same zone by its name.
  it.each(["Asia/Shanghai", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia", "America/St_Johns"])(
    "is said as Intl says it: %s",
    (zone) => {
      process.env.TZ = zone;
      for (const year of [1970, 1999, 2026, 2027, 9998])
        for (let hour = 0; hour < 366 * 24; hour += 7) {
          const at = Date.UTC(year, 0, 1, hour, 31, 59, 5);
          expect(moment(at, "browser", true)).toBe(moment(at, zone, true));
          if (zone === "Asia/Shanghai") expect(moment(at, "UTC")).toBe(moment(at, "Etc/UTC"));
        }
      for (const at of [-1, Date.UTC(12_000, 1, 1)]) expect(moment(at, "UTC")).toBe(moment(at, "Etc/UTC"));
    },
  );
});

describe("an exact duration", () => {
  it.each([
    [812, "812 ms"],
    [12_345, "12.345 s"],
    [59_999.6, "1m 00.000s"],
    [252_001, "4m 12.001s"],
    [-1, "–"],
  ])("of %d is %s", (ms, text) => expect(exact(ms)).toBe(text));
});
