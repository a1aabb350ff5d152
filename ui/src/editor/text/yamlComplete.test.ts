import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { optionsAt, placeIn, type SchemaForms, schemaAt } from "./yamlComplete";

const forms: SchemaForms = JSON.parse(readFileSync(new URL("../../../../apiserver/testdata/task_types.json", import.meta.url), "utf8"));

/** at reads a text in which | is the caret. */
function at(text: string) {
  const caret = text.indexOf("|");
  const above = text.slice(0, caret).split("\n");
  const rest = text.slice(caret + 1).split("\n");
  const line = (above.at(-1) ?? "") + (rest[0] ?? "");
  const place = placeIn([...above.slice(0, -1), line], above.at(-1)?.length ?? 0, rest.slice(1));
  return { place, labels: place ? optionsAt(forms, place, ["a", "b"]).map((o) => o.label) : [] };
}

const head = "name: w\ntasks:\n  - name: a\n    type: shell\n";

describe("completion in the text", () => {
  it("offers the workflow's own keys at the margin, without those that are there", () => {
    expect(at("name: w\n|\ntasks: []\n").labels).toEqual(expect.arrayContaining(["params", "timeout", "on_failure"]));
    expect(at("name: w\n|\ntasks: []\n").labels).not.toContain("name");
  });

  it("offers the keys of a task by its type, needed ones first", () => {
    const { labels, place } = at(`${head}    |\n`);
    expect(place).toMatchObject({ task: 0, type: "shell", path: [] });
    expect(labels[0]).toBe("script");
    expect(labels).not.toContain("url");
    expect(labels).not.toContain("name");
    expect(at("tasks:\n  - name: x\n    |\n    type: http\n").labels).toContain("url");
    expect(at(`${head}  - |\n`)).toMatchObject({ place: { task: 1, kind: "key", path: [] } });
    expect(at(`${head}  - |\n`).labels).toContain("name");
  });

  it("offers keys and words inside of a key", () => {
    expect(at(`${head}    retry:\n      |\n`).labels).toContain("times");
    expect(at(`${head}    retry:\n      times: 1\n      |\n`).labels).not.toContain("times");
    expect(at(`${head}    priority: |\n`).labels).toContain("highest");
    expect(at(`${head}    timeout:\n      action: w|\n`).labels).toEqual(["warn", "fail", "warn_and_fail"]);
    expect(at("name: w\non_failure: |\n").labels).toContain("continue");
    expect(at("name: w\nparams:\n  day:\n    type: |\n").labels).toEqual(["string", "integer", "number", "boolean", "date", "list"]);
  });

  it("offers types and the names of tasks", () => {
    expect(at("tasks:\n  - name: a\n    type: |\n").labels).toContain("python");
    expect(at(`${head}    needs: [a, |\n`)).toMatchObject({ labels: ["a", "b"], place: { from: 15 } });
    expect(at(`${head}    needs:\n      - |\n`).labels).toEqual(["a", "b"]);
  });

  it("offers nothing in comments", () => {
    expect(at("# na|").place).toBeUndefined();
    expect(at("name: w # |").place).toBeUndefined();
  });

  it("finds what a key means", () => {
    expect(schemaAt(forms, { path: ["retry", "times"], task: 0, type: "shell" })?.description).toMatch(/attempts/);
  });
});
