import { describe, expect, it } from "vitest";
import { Breaks, normal } from "./breaks";
import { applySplices } from "./text";

describe("line breaks", () => {
  const mixed = "a: 1\r\nb: 2\nc: \u{1F42C}\r\n\r\nlast";

  it("have the same places in both directions, whatever kinds a file has", () => {
    for (const text of ["", "a\nb", "\r\n", mixed, "old\rmac\r"]) {
      const breaks = new Breaks(text);
      const plain = normal(text);
      expect(breaks.size).toBe(plain.length);
      for (let at = 0; at <= plain.length; at++) {
        expect(breaks.toNormal(breaks.toText(at))).toBe(at);
        expect(normal(text.slice(0, breaks.toText(at)))).toBe(plain.slice(0, at));
      }
    }
  });

  it("stay as they are around what is typed, at every place", () => {
    const plain = normal(mixed);
    for (let at = 0; at <= plain.length; at++) {
      const splices = new Breaks(mixed).splices([{ from: at, to: at, insert: "x\ny" }], "\r\n");
      const after = applySplices(mixed, splices);
      expect(normal(after)).toBe(`${plain.slice(0, at)}x\ny${plain.slice(at)}`);
      expect(after.replace("x\r\ny", "")).toBe(mixed);
    }
  });

  it("begin where their two characters begin", () => {
    expect(new Breaks("a\r\nb").toNormal(2)).toBe(1);
  });
});
