import { describe, expect, it } from "vitest";
import { missingIn, rendered } from "./rendered";
import { fromWall, toWall } from "./wall";

describe("a time in a field", () => {
  it("is that of the page's zone, there and back", () => {
    const at = Date.UTC(2026, 6, 1, 12, 30, 5);
    for (const zone of ["UTC", "Europe/Berlin", "Asia/Shanghai", "America/New_York", "Asia/Kathmandu"]) {
      expect(fromWall(toWall(at, zone), zone), zone).toBe(at);
    }
    expect(toWall(at, "Europe/Berlin")).toBe("2026-07-01T14:30:05");
    expect(fromWall("2026-07-01T14:30", "Europe/Berlin")).toBe(at - 5000);
    expect([fromWall("", "UTC"), fromWall("soon", "UTC")]).toEqual([undefined, undefined]);
  });

  it("is read at changes of the clocks as well", () => {
    const berlin = (text: string) => new Date(fromWall(text, "Europe/Berlin") ?? 0).toISOString();
    expect(berlin("2026-03-29T01:59:59")).toBe("2026-03-29T00:59:59.000Z");
    expect(berlin("2026-03-29T03:00:00")).toBe("2026-03-29T01:00:00.000Z");
    expect(berlin("2026-03-29T02:30:00")).toBe("2026-03-29T01:30:00.000Z"); // left out by the clocks
    expect(berlin("2026-10-25T02:30:00")).toBe("2026-10-25T00:30:00.000Z"); // comes twice
    expect(berlin("2026-10-25T03:00:00")).toBe("2026-10-25T02:00:00.000Z");
  });
});

describe("a script with its values", () => {
  it("has the variables that are known, and leaves the rest alone", () => {
    const pieces = rendered(`echo "\${day}" $region $HOME \\$day \${day:-x} $days`, { day: "7", region: "eu" });
    expect(pieces.map((p) => p.text).join("")).toBe(`echo "7" eu $HOME \\$day \${day:-x} $days`);
    expect(pieces.filter((p) => p.name).map((p) => p.name)).toEqual(["day", "region"]);
    expect(rendered("echo $constructor", {})).toEqual([{ text: "echo $constructor" }]);
    expect(rendered("", { a: "1" })).toEqual([]);
    expect(missingIn(`$rows \${rows} $day $HOME`, { day: "7" }, new Set(["rows", "day"]))).toEqual(["rows"]);
  });
});
