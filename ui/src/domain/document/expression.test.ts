import { expect, it } from "vitest";
import { renameInExpression } from "./expression";

const cases: readonly (readonly [was: string, is: string])[] = [
  [`load.state == "success" && load.rows > 9`, `pull.state == "success" && pull.rows > 9`],
  ["load . state", "pull . state"],
  [`task("load").state`, `task("pull").state`],
  [`task( 'load' ).exit_code`, `task( 'pull' ).exit_code`],
  [`\${load.rows} > 1 && "\${load.rows} rows" != ""`, `\${pull.rows} > 1 && "\${pull.rows} rows" != ""`],
  // Names that only look like it.
  ["reload.state, load2.state, loads.load.state, item.load.size", "reload.state, load2.state, loads.load.state, item.load.size"],
  [`load > 1 && "load.state" == 'task("load")'`, `load > 1 && "load.state" == 'task("load")'`],
  [`task("load all").state, tasks("load"), x.task("load")`, `task("load all").state, tasks("load"), x.task("load")`],
  [`true // load.state\n&& load.state == nil /* load.state */`, `true // load.state\n&& pull.state == nil /* load.state */`],
  ['`load.state` + "$${load.rows}" + "a\\"load.b"', '`load.state` + "$${load.rows}" + "a\\"load.b"'],
];

it.each(cases)("a renamed task has its new name in %s", (was, is) => {
  expect(renameInExpression(was, "load", "pull")).toBe(is);
});

it("a name that is no plain word is written in quotes, and one in quotes stays there", () => {
  expect(renameInExpression("load.state", "load", "load all")).toBe(`task("load all").state`);
  expect(renameInExpression("load.state", "load", "in")).toBe(`task("in").state`);
  expect(renameInExpression("load.state", "load", "1st")).toBe(`task("1st").state`);
  expect(renameInExpression("load.state", "load", "日本")).toBe("日本.state");
  expect(renameInExpression(`task("load all").state == \${load all.rows}`, "load all", "load")).toBe(`task("load").state == \${load.rows}`);
  expect(renameInExpression("1.5 > 1", "1", "one")).toBe("1.5 > 1");
});
