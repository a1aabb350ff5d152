import { describe, expect, it } from "vitest";
import { pieces } from "./ansi";

const text = (line: string) =>
  pieces(line)
    .map((p) => p.text)
    .join("");

describe("colours of a log line", () => {
  it("leaves plain text alone, markup included", () => expect(pieces("<b>1 & 2</b>")).toEqual([{ text: "<b>1 & 2</b>", className: "" }]));
  it("names the sixteen colours", () => {
    expect(pieces("a \u001b[31mred\u001b[0m b").map((p) => [p.text, p.className])).toEqual([
      ["a ", ""],
      ["red", "ansi-red"],
      [" b", ""],
    ]);
    expect(pieces("\u001b[1;92mok")[0]?.className).toBe("ansi-bold ansi-bright-green");
  });
  it("takes 256 and true colours", () => {
    expect(pieces("\u001b[38;2;1;2;3mx")[0]?.color).toBe("rgb(1, 2, 3)");
    expect(pieces("\u001b[38;5;196mx")[0]?.color).toBe("rgb(255,0,0)");
  });
  it("drops what moves cursors and rings bells", () => expect(text("\u001b[2K\u001b]0;title\u0007one\u0007\u001b[1A")).toBe("one"));
  it("shows the last of a line that redraws itself", () => expect(text("10%\r50%\r100%")).toBe("100%"));
});
