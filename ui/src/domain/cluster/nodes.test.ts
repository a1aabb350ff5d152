import { describe, expect, it } from "vitest";
import { byGroup, silenceOf, usual } from "./nodes";

describe("nodes", () => {
  it("stand in every group that they serve, in the order of their numbers", () => {
    const of = (name: string, ...groups: string[]) => ({ name, groups });
    const got = byGroup([of("w10", "default"), of("w2", "gpu", "default")]);
    expect(got.map(({ group, workers }) => [group, ...workers.map((w) => w.name)])).toEqual([
      ["default", "w2", "w10"],
      ["gpu", "w2"],
    ]);
  });
  it("differ from the version that most have", () => {
    expect(usual(["1.4", "1.10", "1.10"])).toBe("1.10");
    expect(usual(["1.4", "1.10"])).toBe("1.10");
    expect(usual([])).toBeUndefined();
  });
  it("worry at half of their time, and count down", () => {
    expect(silenceOf(undefined, 9000, 6000)).toEqual({ word: "heard", ms: 0, left: 6000 });
    expect(silenceOf(7000, 9000, 6000)).toEqual({ word: "late", ms: 2000, left: 4000 });
    expect(silenceOf(6000, 9000, 6000)).toEqual({ word: "worrying", ms: 3000, left: 3000 });
    expect(silenceOf(1000, 9000, 6000)).toEqual({ word: "gone", ms: 8000, left: 0 });
  });
});
