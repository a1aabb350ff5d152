import { describe, expect, it } from "vitest";
import type { Edit } from "./edit";
import { indexOf, renameKey, setFields, setType } from "./fields";
import { moveTask } from "./order";
import { read } from "./read";
import { applySplices } from "./text";

const text = `name: n
tasks:
  # first
  - name: a   # of two
    type: shell
    interpreter: bash

    script: echo   # greets
    retry:
      times: 2   # twice
    params: {x: 1, "y z": 2}

  - name: a
    type: noop
  - {name: c, type: noop}
`;

const applied = (edit: Edit, source = text) => {
  if (!edit.ok) throw new Error(JSON.stringify(edit.refusal));
  return applySplices(source, edit.splices);
};
const code = (edit: Edit) => (edit.ok ? "" : edit.refusal.code);

describe("fields of tasks", () => {
  it("are set for several tasks by one edit, comments kept, and taken away again", () => {
    const spots = [
      { index: 0, name: "a" },
      { index: 1, name: "a" },
      { index: 2, name: "c" },
    ];
    const set = applied(setFields(read(text), spots, ["retry", "times"], 5));
    expect(set).toContain("times: 5   # twice");
    expect(read(set).model.tasks.map((t) => t.fields.retry)).toEqual([{ times: 5 }, { times: 5 }, { times: 5 }]);
    const gone = applied(setFields(read(set), spots, ["retry", "times"], undefined), set);
    expect(read(gone).model.tasks.map((t) => t.fields.retry)).toEqual([undefined, undefined, undefined]);
    expect(gone).toContain("# greets");
  });

  it("are those of the task at this place where two have one name", () => {
    const set = applied(setFields(read(text), [{ index: 1, name: "a" }], ["disabled"], true));
    expect(read(set).model.tasks.map((t) => t.fields.disabled)).toEqual([undefined, true, undefined]);
    expect(indexOf(read(text), { index: 9, name: "c" })).toBe(2);
    expect(code(setFields(read(text), [{ index: 9, name: "nobody" }], ["disabled"], true))).toBe("no_such_task");
  });

  it("that another type does not have go with the change of type", () => {
    const set = applied(setType(read(text), { index: 0, name: "a" }, "noop", ["interpreter", "script"]));
    expect(set).toBe(
      text.replace("type: shell", "type: noop").replace("    interpreter: bash\n", "").replace("    script: echo   # greets\n", ""),
    );
  });

  it("can be renamed as keys of a map", () => {
    const path = ["tasks", 0, "params", "y z"];
    expect(applied(renameKey(read(text), path, "w"))).toBe(text.replace('"y z"', "w"));
    expect(applied(renameKey(read(text), path, "yes"))).toBe(text.replace('"y z"', "'yes'"));
    expect(code(renameKey(read(text), path, "x"))).toBe("name_taken");
    expect(code(renameKey(read(text), ["tasks", 0, "params", "none"], "x"))).toBe("no_such_field");
  });
});

describe("the order of tasks", () => {
  const plain = "tasks:\n  # of a\n  - name: a\n    type: noop   # x\n\n  # of b\n  - name: b\n\n  - name: c # last\n";
  const names = (source: string) => read(source).model.tasks.map((t) => t.name);

  it("changes with a task's own lines and the comments above them", () => {
    const moved = applied(moveTask(read(plain), { index: 1, name: "b" }, -1), plain);
    expect(moved).toBe("tasks:\n  # of b\n  - name: b\n\n  # of a\n  - name: a\n    type: noop   # x\n\n  - name: c # last\n");
    expect(applied(moveTask(read(moved), { index: 0, name: "b" }, 1), moved)).toBe(plain);
    expect(names(applied(moveTask(read(plain), { index: 0, name: "a" }, 2), plain))).toEqual(["b", "c", "a"]);
    expect(names(applied(moveTask(read(plain), { index: 2, name: "c" }, -9), plain))).toEqual(["c", "a", "b"]);
  });

  it("stays where there is nothing to pass", () => {
    expect(applied(moveTask(read(plain), { index: 0, name: "a" }, -1), plain)).toBe(plain);
    expect(applied(moveTask(read(plain), { index: 2, name: "c" }, 1), plain)).toBe(plain);
    expect(code(moveTask(read(plain), { index: 0, name: "x" }, 1))).toBe("no_such_task");
  });

  it("changes in flow lists, in JSON, in lists at the margin and without a last line break", () => {
    const sources = [
      "tasks: [{name: a}, {name: b}, {name: c}]\n",
      '{"tasks": [\n  {"name": "a"},\n  {"name": "b"},\n  {"name": "c"}\n]}\n',
      "tasks:\n- name: a\n- name: b\n- name: c\nparams: {}\n",
      "tasks:\n- name: a\n  script: |\n    x\n- name: b\n- name: c",
      "tasks:\r\n- name: a\r\n- name: b\r\n- name: c\r\n",
    ];
    for (const source of sources) {
      const down = applied(moveTask(read(source), { index: 0, name: "a" }, 2), source);
      expect(names(down), source).toEqual(["b", "c", "a"]);
      const up = applied(moveTask(read(down), { index: 2, name: "a" }, -2), down);
      expect(names(up), source).toEqual(["a", "b", "c"]);
    }
  });
});
