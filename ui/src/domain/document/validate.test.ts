import { describe, expect, it } from "vitest";
import { fieldOf, parsePath } from "./path";
import { read } from "./read";
import { problemsAt, problemsOf } from "./validate";

const text = `name: w
tasks:
  - name: a
    type: shell
    env: {HOME: x, "X-Y z": "1"}
  - name: b
    type: noop
    needs: [a, nowhere]
    retry:
      times: -1
`;

const at = (field: string, code = "invalid") => ({ field, code, message: `${field} is wrong` });

describe("findings of the server", () => {
  it("are placed at the same spot for badge, field, gutter and strip, in the order of the text", () => {
    const problems = problemsOf(read(text), [
      at("tasks[1].needs[1]"),
      at("tasks[1].retry.times", "out_of_range"),
      at('tasks[0].env["X-Y z"]'),
      at("tasks[0].script", "required"),
    ]);
    const shown = problems.all.map((p) => [p.task, fieldOf(p.path), text.slice(p.range.from, p.range.to), p.at.line]);
    expect(shown).toEqual([
      ["a", "script", "name: a", 3],
      ["a", 'env["X-Y z"]', '"1"', 5],
      ["b", "needs[1]", "nowhere", 8],
      ["b", "retry.times", "-1", 10],
    ]);
    expect(problems.ofTask.get("b")).toHaveLength(2);
    expect(problems.ofLine.get(8)).toEqual([problems.all[2]]);
    expect(problemsAt(problems, "b", ["retry"])).toEqual([problems.all[3]]);
    expect(problemsAt(problems, "b", ["needs"])).toEqual([problems.all[2]]);
    expect(problemsAt(problems, "a", ["type"])).toEqual([]);
  });

  it("of the workflow belong to no task, and a missing key stands at its first line", () => {
    const problems = problemsOf(read(text), [at("timeout.after"), at("body")]);
    expect(problems.ofWorkflow).toHaveLength(2);
    expect(problems.ofTask.size).toBe(0);
  });

  it("give way to the line of a broken text", () => {
    const problems = problemsOf(read(`${text}  - [`), [{ ...at("body", "syntax"), line: 2 }]);
    expect(problems.all.every((p) => p.code === "syntax" && p.at.line > 10)).toBe(true);
  });

  it("stand behind the mistake that breaks the text, wherever they were", () => {
    const problems = problemsOf(read(`${text}  - [`), [at("name")]);
    expect(problems.all.map((p) => p.code)).toEqual(["syntax", "invalid"]);
  });

  it("have ids that differ, and paths that survive being read and written", () => {
    const problems = problemsOf(read(text), [at("tasks[0].env"), at("tasks[0].env")]);
    expect(new Set(problems.all.map((p) => p.id)).size).toBe(2);
    for (const field of ["tasks[3].needs[0]", 'a["b.c"].d', 'headers["X\\"Y"][2]', "name"]) expect(fieldOf(parsePath(field))).toBe(field);
  });
});
