import { describe, expect, it } from "vitest";
import { read } from "../../domain/document/read";
import { begunWith, firstCases, offsetOf, readKept } from "./cases";
import { back, forth, stepsFrom, typed } from "./steps";

describe("the cases to begin with", () => {
  it("are text that reads, whatever the tasks are called", () => {
    const text = firstCases([
      { name: "route", type: "switch" },
      { name: "no", type: "shell" },
    ]);
    expect(text).toContain('"no": failed');
    expect(read(text).errors).toEqual([]);
    expect(firstCases([])).toBe("cases:\n  - name: all goes well\n    expect: success\n");
  });
});

describe("what the panel opens with", () => {
  const [none, saved] = [
    { text: "", revision: 0 },
    { text: "theirs", revision: 3 },
  ];
  it("is what is saved, or the first cases where nothing is", () => {
    expect(begunWith(none, undefined, "first")).toEqual({ text: "first", seen: 0, clash: false });
    expect(begunWith(saved, undefined, "first")).toEqual({ text: "theirs", seen: 3, clash: false });
    expect(begunWith({ text: "", revision: 2 }, undefined, "first").text).toBe("");
  });
  it("is what was typed here and not saved, and a clash where others were saved since", () => {
    expect(begunWith(saved, { text: "mine", revision: 3 }, "first")).toEqual({ text: "mine", seen: 3, clash: false });
    expect(begunWith(saved, { text: "mine", revision: 2 }, "first")).toEqual({ text: "mine", seen: 2, clash: true });
    expect(begunWith(saved, { text: "theirs", revision: 2 }, "first").clash).toBe(false);
  });
  it("reads what a browser kept before, as text that nothing is known of", () => {
    expect(readKept('{"text":"x","revision":4}')).toEqual({ text: "x", revision: 4 });
    expect(readKept('{"cases":[]}')).toEqual({ text: '{"cases":[]}', revision: 0 });
    expect(readKept("cases: []")).toEqual({ text: "cases: []", revision: 0 });
  });
});

describe("a line of a text", () => {
  it("is found by its number, and a number too high is the last line", () => {
    const text = "a\nbc\n\nd";
    expect([1, 2, 3, 4, 9].map((n) => offsetOf(text, n))).toEqual([0, 2, 5, 6, 6]);
  });
});

describe("the steps of the cases", () => {
  it("go back word by word, and forth again", () => {
    let s = stepsFrom("");
    for (const text of ["c", "ca", "cas", "cas ", "cas b", "cas bc"]) s = typed(s, text);
    expect(back(s).text).toBe("cas ");
    expect(back(back(s)).text).toBe("");
    expect(forth(forth(back(back(s)))).text).toBe("cas bc");
    expect(forth(s)).toBe(s);
    expect(back(stepsFrom("x")).text).toBe("x");
  });

  it("forget what lay ahead once something else is typed", () => {
    const s = typed(back(typed(stepsFrom("one"), "two")), "three");
    expect(forth(s).text).toBe("three");
    expect(back(s).text).toBe("one");
  });
});
