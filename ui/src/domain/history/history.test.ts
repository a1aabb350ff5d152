import { describe, expect, it } from "vitest";
import { Random, randomWorkflow } from "../document/random";
import { begin, type History, maxEntries, reduce } from "./history";

const type = (state: History, text: string, at: number, group?: string): History => {
  const end = state.text.length;
  return reduce(state, { type: "change", change: { label: "typing", at, group, splices: [{ from: end, to: end, insert: text }] } });
};

describe("the undo history", () => {
  it("gives equal texts, places and selections step by step when ten random changes are undone and done again", () => {
    for (let seed = 1; seed <= 100; seed++) {
      const r = new Random(seed);
      let state = begin(randomWorkflow(r), { t0: { x: 0, y: 0 } });
      const seen = [state];
      for (let i = 0; i < 10; i++) {
        const from = r.below(state.text.length + 1);
        const to = Math.min(state.text.length, from + r.below(9));
        const moves = { [`t${r.below(3)}`]: r.chance(0.3) ? undefined : { x: r.below(9) + i, y: i } };
        const selection = { tasks: [`t${i}`], anchor: from, head: from };
        state = reduce(state, {
          type: "change",
          change: { label: "edit", at: i, splices: [{ from, to, insert: `n${i}` }], moves, selection },
        });
        seen.push(state);
      }
      const shown = (s: History | undefined) => s && [s.text, s.places, s.selection];
      for (let i = 9; i >= 0; i--) {
        state = reduce(state, { type: "undo" });
        expect(shown(state), `seed ${seed} undo to ${i}`).toEqual(shown(seen[i]));
      }
      for (let i = 1; i <= 10; i++) {
        state = reduce(state, { type: "redo" });
        expect(shown(state), `seed ${seed} redo to ${i}`).toEqual(shown(seen[i]));
      }
    }
  });

  it("takes typing within 600 ms back at once, and a pause begins a new step", () => {
    let state = begin("");
    state = type(state, "a", 0, "yaml");
    state = type(state, "b", 600, "yaml");
    state = type(state, "c", 1201, "yaml");
    expect(state.past).toHaveLength(2);
    state = reduce(state, { type: "undo" });
    expect(state.text).toBe("ab");
    expect(reduce(state, { type: "undo" }).text).toBe("");
  });

  it("never joins changes of different groups, without a group, or over a seal", () => {
    let state = type(type(begin(""), "a", 0), "b", 1);
    state = type(state, "c", 2, "yaml");
    state = type(state, "d", 3, "form");
    state = reduce(state, { type: "seal" });
    state = type(state, "e", 4, "form");
    expect(state.past).toHaveLength(5);
  });

  it("keeps 200 steps and drops the future on a new change", () => {
    let state = begin("");
    for (let i = 0; i < maxEntries + 5; i++) state = type(state, "x", i);
    expect(state.past).toHaveLength(maxEntries);
    state = type(reduce(reduce(state, { type: "undo" }), { type: "undo" }), "y", 999);
    expect(state.future).toHaveLength(0);
    expect(reduce(state, { type: "redo" })).toBe(state);
  });

  it("makes no step of a change that changes nothing", () => {
    const state = begin("abc", { a: { x: 1, y: 1 } });
    const same = reduce(state, {
      type: "change",
      change: { label: "", at: 0, splices: [{ from: 0, to: 1, insert: "a" }], moves: { a: { x: 1, y: 1 } } },
    });
    expect(same.past).toHaveLength(0);
  });
});
