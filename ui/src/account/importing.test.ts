import { describe, expect, it } from "vitest";
import { broughtOf, namesOf } from "./importing";

describe("a text that is brought along", () => {
  it.each([
    ["name: x\ntasks: []\n", "yaml"],
    ["# comment\nname: x", "yaml"],
    ["{name: x, tasks: []}", "yaml"],
    ['{"name": "x", "tasks": []}', "json"],
    ['\ufeff [{"processDefinition": {}, "taskDefinitionList": []}]', "export"],
    ['{"workflowDefinition": {"name": "x"}}', "export"],
    ["[]", "export"],
    ["", "yaml"],
  ])("%j is %s", (text, what) => expect(broughtOf(text)).toBe(what));

  it("has names for codes, line by line", () => {
    expect(namesOf("environment:126=prod\n\n project:7 =  dwh west \n")).toEqual({
      names: { "environment:126": "prod", "project:7": "dwh west" },
      wrong: [],
    });
    expect(namesOf("prod\nenvironment:1=\n=x")).toEqual({ names: {}, wrong: ["prod", "environment:1=", "=x"] });
  });
});
