import { describe, expect, it } from "vitest";
import { choosersOf, mentioned, waysOf } from "./choice";
import { read } from "./document/read";

const text = `name: w
tasks:
  - name: route
    type: switch
    cases:
      - {when: rows == 0, then: []}
      - {when: 'rows < limit && region != "rows of eu"', then: [small]}
      - {when: rows < 9, then: [small, large]}
    else: [large]
  - {name: small, type: noop, needs: [route]}
  - {name: large, type: noop, needs: [route]}
`;
const { tasks } = read(text).model;
const [route] = tasks;
if (!route) throw new Error("the text has no task");

describe("a choice", () => {
  it("marks the case that was taken, and what was not looked at any more", () => {
    expect(waysOf(route, "1").map((w) => [w.n, w.taken, w.looked])).toEqual([
      [1, false, true],
      [2, true, true],
      [3, false, false],
      [undefined, false, true],
    ]);
    expect(waysOf(route, "else").map((w) => w.taken)).toEqual([false, false, false, true]);
    expect(waysOf(route, undefined).every((w) => w.taken === undefined && !(w.n && w.looked))).toBe(true);
  });

  it("was decided by the names in its conditions", () => {
    expect(mentioned(["rows == 0", 'rows < limit && region != "eu"'], ["rows", "limit", "day", "region", "rows"])).toEqual([
      "rows",
      "limit",
      "region",
    ]);
    expect(mentioned(['task("load all").state == "failed"'], ["load all", "load", "state"])).toEqual(["load all", "state"]);
  });

  it("is found from a task that stands in a branch", () => {
    expect(choosersOf(tasks, "large").map((t) => t.name)).toEqual(["route"]);
    expect(choosersOf(tasks, "route")).toEqual([]);
  });
});
