import { describe, expect, it } from "vitest";
import { renamed } from "./rename";

describe("a copy", () => {
  it("has another name, and every other byte of the original", () => {
    const text = "# daily\nname: load   # the old one\n\ntasks:\n  - {name: load, type: noop}\n";
    expect(renamed(text, "load copy")).toBe("# daily\nname: load copy   # the old one\n\ntasks:\n  - {name: load, type: noop}\n");
  });
  it("of JSON stays JSON", () => {
    expect(renamed('{"name":"a","tasks":[]}', 'b "c"')).toBe('{"name":"b \\"c\\"","tasks":[]}');
  });
  it("whose name reads like a number stays text", () => {
    expect(renamed("name: a\ntasks: []\n", "42")).toMatch(/^name: ["']42["']\n/);
  });
  it("of what is no definition is refused", () => {
    expect(renamed("name: [a\n", "b")).toBeUndefined();
  });
});
