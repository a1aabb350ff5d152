import { expect, it } from "vitest";
import { movedOf } from "./plan";

const part = (workflow: string, version: number, ...dates: string[]) => ({ project: "shop", workflow, version, dates });

it("counts the dates that came and went, each workflow's for itself, and what has another version", () => {
  const before = { parts: [part("load", 1, "1", "2", "3"), part("report", 4, "1", "2", "3")] };
  expect(movedOf(before, before)).toEqual({ more: 0, fewer: 0, versions: 0 });
  expect(movedOf(before, { parts: [part("load", 2, "2", "3"), part("report", 4, "1", "2", "3", "4")] })).toEqual({
    more: 1,
    fewer: 1,
    versions: 1,
  });
  expect(movedOf(before, { parts: [part("load", 1, "1", "2", "3"), part("mail", 7, "1")] })).toEqual({ more: 1, fewer: 3, versions: 0 });
});
