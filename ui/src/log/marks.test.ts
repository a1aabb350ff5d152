import { describe, expect, it } from "vitest";
import { pieces, plain, withLinks } from "./ansi";
import type { Hit } from "./api";
import { marked, ranges } from "./marks";

const wish = (text: string, part: object = {}) => ({ text, regex: false, case: false, ...part });
const shown = (line: string, text: string) =>
  marked(withLinks(pieces(line)), ranges(plain(line), wish(text), undefined)).map((p) => (p.marked ? `[${p.text}]` : p.text));

describe("marks of hits", () => {
  it("are every match of a text", () => {
    expect(ranges("an Error, an error", wish("ERROR"), undefined)).toEqual([
      [3, 8],
      [13, 18],
    ]);
    expect(ranges("an Error, an error", wish("error", { case: true }), undefined)).toEqual([[13, 18]]);
    expect(ranges("a+b (c)", wish("+B (C"), undefined)).toEqual([[1, 6]]);
    expect(ranges("x", wish(""), undefined)).toEqual([]);
  });
  it("are the server's for an expression", () => {
    const hit: Hit = { offset: 0, line: 1, text: "", start: 2, length: 3 };
    expect(ranges("whatever", wish("(a+)+$", { regex: true }), hit)).toEqual([[2, 5]]);
    expect(ranges("whatever", wish("x", { regex: true }), undefined)).toEqual([]);
    expect(ranges("whatever", wish("e.", { regex: true }), { ...hit, more: [5, 2, 7, 1] })).toEqual([
      [2, 5],
      [5, 7],
      [7, 8],
    ]);
    expect(ranges("whatever", wish("$|e", { regex: true }), { ...hit, length: 0, more: [4, 1] })).toEqual([[4, 5]]);
  });
  it("go over colours and links without changing the text", () => {
    expect(shown("\u001b[32mok\u001b[0m now", "k no")).toEqual(["o", "[k]", "[ no]", "w"]);
    expect(shown("see https://a.b/c?d=1. end", "b/c")).toEqual(["see ", "https://a.", "[b/c]", "?d=1", ". end"]);
    expect(shown("aaa", "a")).toEqual(["[a]", "[a]", "[a]"]);
  });
});

describe("links", () => {
  const links = (line: string) => withLinks(pieces(line)).flatMap((p) => (p.href ? [p.href] : []));
  it("are http and https only, without what follows a sentence", () => {
    expect(links("go to (https://x.y/z), or http://a:8/?q=1.")).toEqual(["https://x.y/z", "http://a:8/?q=1"]);
    expect(links("javascript://x ftp://x data:text/html,x file:///etc")).toEqual([]);
  });
  it("keep the text whole", () => {
    const line = "a https://x.y/z b http://q c";
    expect(
      withLinks(pieces(line))
        .map((p) => p.text)
        .join(""),
    ).toBe(line);
  });
});
