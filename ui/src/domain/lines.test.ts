import { describe, expect, it } from "vitest";
import { lines, textOf, variables } from "./lines";

describe("variables", () => {
  it("reads what textOf has written", () => {
    const values = { LANG: "C", URL: "http://a/?b=c", EMPTY: "" };
    expect(variables(textOf(values))).toEqual({ values });
  });

  it("keeps the blanks of a value and drops those of a name", () => {
    expect(variables(" A = b \n\nC=")).toEqual({ values: { A: " b ", C: "" } });
  });

  it("says which line is none", () => {
    expect(variables("A=1\n\nno value")).toEqual({ wrong: 3 });
    expect(variables("=1")).toEqual({ wrong: 1 });
  });
});

it("lines drops blank lines", () => {
  expect(lines(" 12-25 \r\n\nsunday")).toEqual(["12-25", "sunday"]);
});
