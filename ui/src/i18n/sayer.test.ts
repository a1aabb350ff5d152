import { describe, expect, it } from "vitest";
import { sayer } from ".";
import { en } from "./en";
import { zhCN } from "./zh-CN";

describe("a sentence", () => {
  const [english, chinese] = [sayer(en, "en"), sayer(zhCN, "zh-CN")];

  it("has its values in its holes, as they are", () => {
    expect(english("common.version", { n: 3 })).toBe("v3");
    expect(english("workflows.title", { project: "$& <b> {{n}}" })).toContain("$& <b> {{n}}");
  });

  it("goes by its count, which Chinese does not tell apart", () => {
    expect([0, 1, 2].map((count) => english("grid.chosen", { count }))).toEqual(["0 cells chosen", "1 cell chosen", "2 cells chosen"]);
    expect([1, 2].map((count) => chinese("grid.chosen", { count }).replace(String(count), "n"))).toEqual(
      new Array(2).fill(zhCN["grid.chosen_other"].replace("{{count}}", "n")),
    );
  });

  it("has a plural wherever it has a singular", () => {
    const stems = Object.keys(en).filter((k) => k.endsWith("_one") && /\{\{count\}\}|_one$/.test(k));
    expect(stems.filter((k) => !(k.replace(/_one$/, "_other") in en))).toEqual([]);
  });
});
