import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { read } from "../../domain/document/read";
import type { Finding } from "../../domain/document/validate";
import { en } from "../../i18n/en";
import { zhCN } from "../../i18n/zh-CN";
import { Document } from "../document";
import { localReader } from "../reader";
import { offersFor } from "./needs";
import { commonFields, type Field, fieldsOf, unknownKeys } from "./schema";
import { bulkKeys, ofTab, tabFrom, taskTabs } from "./sections";
import { bulkTarget, taskTarget, workflowTarget } from "./target";
import { freeKey, like, numberOr, startsWord, wrong } from "./values";
import { fieldKey } from "./words";

interface Golden {
  items: { type: string; schema: Record<string, unknown>; required: string[] }[];
  workflow: { schema: Record<string, unknown> };
}
// What the server answers, as its own tests keep it.
const golden = JSON.parse(readFileSync(new URL("../../../../apiserver/testdata/task_types.json", import.meta.url), "utf8")) as Golden;
const forms = golden.items.map((x) => fieldsOf(x.schema));
const everything = (fields: readonly Field[]): Field[] => fields.flatMap((f) => [f, ...everything(f.fields)]);
const shell = fieldsOf(golden.items.find((x) => x.type === "shell")?.schema ?? {});
const field = (key: string, of: readonly Field[] = shell) => {
  const found = everything(of).find((f) => fieldKey(f.path) === key);
  if (!found) throw new Error(`no field ${key}`);
  return found;
};

function open(text: string) {
  const doc = new Document(text, {}, { reader: localReader, now: clock(), after: () => () => undefined });
  const task = (i: number) => {
    const one = doc.state.reading.model.tasks[i];
    if (!one) throw new Error(`no task ${i}`);
    return taskTarget(doc, one, doc.state.problems);
  };
  return { doc, task };
}

function clock() {
  let at = 0;
  return () => (at += 100);
}

describe("the forms of the served schemas", () => {
  const keys = [...new Set([...forms, fieldsOf(golden.workflow.schema)].flatMap(everything).map((f) => fieldKey(f.path)))];
  it.each(keys)("%s has a word and help in both languages", (key) => {
    for (const words of [en, zhCN]) {
      expect(words).toHaveProperty([`form.field.${key}`]);
      expect(words).toHaveProperty([`form.help.${key}`]);
    }
  });

  it("have a control for every field, and the name, the type and what is the type's own first", () => {
    for (const form of [...forms, fieldsOf(golden.workflow.schema)]) {
      expect(
        everything(form)
          .filter((f) => f.control === "yaml" && f.key !== "compensate") // a task within the task: written as text
          .map((f) => f.path),
      ).toEqual([]);
    }
    expect(shell.slice(0, 4).map((f) => [f.key, f.control])).toEqual([
      ["name", "name"],
      ["type", "type"],
      ["script", "script"],
      ["interpreter", "line"],
    ]);
    expect(field("script")).toMatchObject({ language: "shell", required: true });
    expect(field("interpreter")).toMatchObject({ advanced: true, standard: "sh" });
    expect(field("retry.times")).toMatchObject({ control: "integer", min: 0, max: 100 });
    expect(field("retry.delay")).toMatchObject({ control: "duration", min: undefined });
    expect(field("expect.status", forms[2])).toMatchObject({ control: "list", numbers: true });
  });

  it("lose no field between the parts, and can be edited for many tasks at once", () => {
    for (const form of forms) {
      expect(taskTabs.flatMap((tab) => ofTab(form, tab, "task"))).toHaveLength(form.length);
    }
    const common = commonFields(forms).map((f) => f.key);
    for (const key of bulkKeys) expect(common).toContain(key);
    expect(tabFrom("nonsense", "task")).toBe("what");
    expect(unknownKeys(shell, { name: "a", colour: "red" })).toEqual(["colour"]);
  });
});

describe("what is typed into a field", () => {
  it("stays as it was typed, also where it is no number", () => {
    expect(["3", "03", "3.", "abc", "", "-1", "1e9"].map(numberOr)).toEqual([3, "03", "3.", "abc", "", -1, "1e9"]);
    expect(like("5", "integer", undefined)).toBe(5);
    expect(like("5", undefined, "x")).toBe("5");
    expect(like("true", undefined, false)).toBe(true);
    expect(freeKey("param", ["param", "param_2"])).toBe("param_3");
  });

  it("is told what is wrong with it", () => {
    expect(wrong(field("retry.times"), "abc")).toBe("integer");
    expect(wrong(field("retry.times"), 101)).toBe("max");
    expect(wrong(field("retry.times"), 3)).toBeUndefined();
    expect(wrong(field("retry.delay"), "5 minutes")).toBe("duration");
    expect(wrong(field("retry.delay"), "1h30m")).toBeUndefined();
    expect(wrong(field("priority"), "urgent")).toBe("choice");
    expect(wrong(field("retry"), "often")).toBe("shape");
  });

  it("is one step per word, comments kept, and undo takes one word back", () => {
    const text = "name: n\ntasks:\n  - name: a\n    type: shell\n    script: x   # why\n";
    const { doc, task } = open(text);
    let before = "x";
    for (const letter of " two words") {
      const after = before + letter;
      task(0).type(["script"], after, { before, after });
      before = after;
    }
    expect(doc.state.history.text).toBe(text.replace("script: x", "script: x two words"));
    doc.undo();
    expect(doc.state.history.text).toBe(text.replace("script: x", "script: 'x two '"));
    doc.undo();
    doc.undo();
    expect(doc.state.history.text).toBe(text);
    expect(startsWord("a ", "a b")).toBe(true);
    expect(startsWord("a b", "a bc")).toBe(false);
    expect(startsWord("a ", "a pasted text")).toBe(false);
  });

  it("goes to the task at its place where two have one name, and its problems too", () => {
    const { doc, task } = open("name: n\ntasks:\n  - name: a\n    type: noop\n  - name: a\n    type: noop\n");
    task(1).write(["disabled"], true);
    expect(doc.state.reading.model.tasks.map((x) => x.fields.disabled)).toEqual([undefined, true]);
    const findings: Finding[] = [{ field: "tasks[1].disabled", code: "wrong_type", message: "no" }];
    doc.found(doc.state.history.text, findings);
    expect(task(1).problems(["disabled"])).toHaveLength(1);
    expect(task(0).problems(["disabled"])).toHaveLength(0);
  });

  it("is one step for several tasks, and tells where they differ", () => {
    const { doc } = open("name: n\ntasks:\n  - {name: a, type: noop, retry: {times: 1}}\n  - {name: b, type: noop}\n");
    const bulk = () => bulkTarget(doc, doc.state.reading.model.tasks);
    expect([bulk().mixed(["retry", "times"]), bulk().mixed(["priority"])]).toEqual([true, false]);
    bulk().write(["retry", "times"], 4);
    expect(doc.state.reading.model.tasks.map((x) => x.fields.retry)).toEqual([{ times: 4 }, { times: 4 }]);
    expect(doc.state.history.past).toHaveLength(1);
    expect(bulk().read(["retry", "times"])).toBe(4);
  });

  it("of the workflow goes to its own keys, and back to nothing", () => {
    const { doc } = open("name: n\ntasks: []\n");
    const target = () => workflowTarget(doc, doc.state.reading.model, doc.state.problems);
    target().write(["timeout", "after"], "2h");
    expect(doc.state.history.text).toContain("timeout: {after: 2h}");
    target().write(["timeout", "after"], undefined);
    expect(doc.state.history.text).toBe("name: n\ntasks: []\n");
  });
});

describe("the tasks that a task can need", () => {
  const tasks = read("tasks:\n  - name: a\n  - {name: b, needs: [a]}\n  - {name: c, needs: [b]}\n  - name: d\n").model.tasks;
  it("leave out itself and those it needs, and put those that would close a circle last", () => {
    const b = tasks[1];
    if (!b) throw new Error("no b");
    expect(offersFor(tasks, b, "").offers).toEqual([
      { name: "d", cycle: false },
      { name: "c", cycle: true },
    ]);
    expect(offersFor(tasks, b, "C").offers.map((o) => o.name)).toEqual(["c"]);
  });
});
