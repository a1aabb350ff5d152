import { describe, expect, it } from "vitest";
import { byGroup, named, type Samples, sampled, silenceOf, usual } from "./nodes";

describe("nodes", () => {
  it("stand in every group that they serve, in the order of their numbers", () => {
    const of = (name: string, ...groups: string[]) => ({ name, groups });
    const got = byGroup([of("w10", "default"), of("w2", "gpu", "default")]);
    expect(got.map(({ group, workers }) => [group, ...workers.map((w) => w.name)])).toEqual([
      ["default", "w2", "w10"],
      ["gpu", "w2"],
    ]);
  });
  it("are named by a cause with all of their name", () => {
    expect(named("master-10 left, master-2 joined", "master-10")).toBe(true);
    expect(named("master-10 left, master-2 joined", "master-1")).toBe(false);
    expect(named("master-10 left, master-2 joined", "master-2")).toBe(true);
  });
  it("keep a minute of their loads, each life its own", () => {
    const w = (incarnation: string, load?: number) => [{ name: "w1", incarnation, load }];
    let kept: Samples = new Map();
    for (let i = 0; i < 70; i++) kept = sampled(kept, w("a", i));
    expect(kept.get("w1 a")?.length).toBe(60);
    expect(kept.get("w1 a")?.at(-1)).toBe(69);
    expect([...sampled(kept, w("b", 1))]).toEqual([["w1 b", [1]]]);
    expect([...sampled(kept, w("b"))]).toEqual([]);
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
