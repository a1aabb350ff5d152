import { describe, expect, it } from "vitest";
import { columns, fitting, templateOf } from "./instanceColumns";

describe("the columns of instances", () => {
  it("all stand in a wide window", () => {
    expect(fitting(columns, true, 2000).size).toBe(columns.length + 4);
  });

  it("leave a narrow one from the last", () => {
    const shown = fitting(columns, false, 700);
    expect([...shown]).toContain("reason");
    expect([...shown]).not.toContain("by");
    expect([...fitting(columns, true, 300)]).toEqual(["pick", "state", "name", "took"]);
  });

  it("never take more than there is", () => {
    for (let width = 400; width < 1600; width += 50) {
      const least = templateOf(fitting(columns, true, width))
        .split(/ (?![^(]*\))/)
        .reduce((sum, part) => sum + Number(/\d+/.exec(part)?.[0]) + 12, 0);
      expect(least, `at ${width}`).toBeLessThanOrEqual(width);
    }
  });

  it("stand in one order, whatever is hidden", () => {
    expect(templateOf(fitting(["by", "id"], false, 2000))).toBe("122px minmax(116px, 1.2fr) 76px 84px minmax(60px, 0.6fr)");
  });
});
