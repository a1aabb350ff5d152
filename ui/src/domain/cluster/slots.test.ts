import { describe, expect, it } from "vitest";
import { agreementOf, cellsOf, letterOf, marksOf, rangesOf, sharesOf } from "./slots";

describe("the slots", () => {
  const view = {
    members: ["m1", "m2"],
    owners: [0, 1, -1, 0],
    overloaded: [1, 2],
    preparing: { members: ["m1", "m3"], owners: [0, 1, 0, 1] },
  };

  it("say whose they are, and whose they are about to be", () => {
    expect(cellsOf(view)).toEqual([
      { slot: 0, owner: "m1", next: undefined, full: false },
      { slot: 1, owner: "m2", next: "m3", full: true },
      { slot: 2, owner: undefined, next: "m1", full: false },
      { slot: 3, owner: "m1", next: "m3", full: false },
    ]);
  });
  it("are summed up by master, nobody's last", () => {
    expect(sharesOf(cellsOf(view))).toEqual([
      { owner: "m1", slots: [0, 3], leaving: 1, coming: 1, full: 0 },
      { owner: "m2", slots: [1], leaving: 1, coming: 0, full: 1 },
      { owner: "m3", slots: [], leaving: 0, coming: 2, full: 0 },
      { owner: undefined, slots: [2], leaving: 1, coming: 0, full: 0 },
    ]);
  });
  it("are said as ranges", () => {
    expect(rangesOf([0, 1, 2, 3, 7, 12, 13])).toBe("0-3, 7, 12-13");
    expect(rangesOf([])).toBe("");
  });
});

describe("the letters of masters", () => {
  it("stay with a master when another comes before it in the alphabet, or goes", () => {
    const first = marksOf(new Map(), ["m3", "m2", "m3"]);
    expect([...first]).toEqual([
      ["m2", 0],
      ["m3", 1],
    ]);
    const then = marksOf(first, ["m1", "m3"]);
    expect(then.get("m3")).toBe(1);
    expect(then.get("m1")).toBe(2);
    expect(marksOf(then, ["m1"])).toBe(then);
  });
  it("go on after Z", () => {
    expect([0, 25, 26, 27, 52].map(letterOf)).toEqual(["A", "Z", "AA", "AB", "BA"]);
  });
});

describe("an agreement", () => {
  const at = (ms: number) => new Date(1_700_000_000_000 + ms).toISOString();

  it("has the time of each step of the epoch that was agreed on, and who answered last", () => {
    const steps = [
      { epoch: 2, name: "prepare", at: at(0) },
      { epoch: 2, name: "ack", master: "m1", at: at(10) },
      { epoch: 3, name: "prepare", at: at(100) },
      { epoch: 3, name: "ack", master: "m1", at: at(110) },
      { epoch: 3, name: "ack", master: "m2", at: at(1600) },
      { epoch: 3, name: "commit", at: at(1610) },
    ];
    expect(agreementOf(at(0), at(2000), steps)).toEqual({ proposed: 100, confirmed: 1500, committed: 400, slowest: "m2" });
  });
  it("of one master names nobody as the slowest, and without steps there is none", () => {
    const steps = [
      { epoch: 1, name: "prepare", at: at(0) },
      { epoch: 1, name: "ack", master: "m1", at: at(5) },
      { epoch: 1, name: "commit", at: at(9) },
    ];
    expect(agreementOf(at(0), at(9), steps)?.slowest).toBeUndefined();
    expect(agreementOf(at(0), at(9), [])).toBeUndefined();
  });
});
