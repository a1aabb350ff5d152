import { describe, expect, it } from "vitest";
import { refused, strengthOf } from "./password";

describe("strengthOf", () => {
  it.each([
    ["", "empty"],
    ["elevenchars", "short"],
    ["x".repeat(257), "long"],
    ["Administrator", "name"],
    ["aaaaaaaaaaaaaaaa", "same"],
    ["password1234", "guessable"],
    ["abcdefghijklmnop", "guessable"],
    ["abababababababab", "guessable"],
    ["my administrator", "guessable"],
    ["blue horse fly", "fair"],
    ["seven blue horses swim", "good"],
    ["vT9#kQ2!xLm7$wZr4&", "strong"],
    ["正确的马电池订书钉和蓝色海豚", "good"],
  ])("%j is %s", (password, want) => expect(strengthOf(password, "administrator")).toBe(want));

  it("counts characters and not their halves, as the server does", () => {
    expect(strengthOf("🐬🐋🦈🐟🐠🐡", "ann")).toBe("short");
  });

  it("refuses just what the server refuses", () => {
    expect([...refused].sort()).toEqual(["empty", "long", "name", "same", "short"]);
  });
});
