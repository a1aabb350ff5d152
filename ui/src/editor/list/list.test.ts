import { describe, expect, it } from "vitest";
import { read } from "../../domain/document/read";
import type { Say } from "../../i18n";
import { Document } from "../document";
import { localReader } from "../reader";
import { canEdit, columns, commit, textOf } from "./cells";
import { depthsOf, namesIn, rangeOf, rowsOf } from "./rows";
import { moved } from "./useGrid";

const text = `name: n
tasks:
  - {name: z10, type: shell, needs: [b]}
  - {name: z9, type: shell, needs: [a, a], worker_group: big}
  - {name: b, type: http}
  - {name: a, type: noop, needs: [z10]}
  - {name: loop, type: noop, needs: [loop2]}
  - {name: loop2, type: noop, needs: [loop]}
`;
const { tasks } = read(text).model;
const names = (filter: string, sort: "text" | "name" | "depth") => rowsOf(tasks, filter, sort).map((t) => t.name);
const t: Say = (key) => key;

function open() {
  const doc = new Document(text, {}, { reader: localReader, now: () => 0, after: () => () => undefined });
  const put = (name: string, column: Parameters<typeof commit>[3], value: string) => {
    const task = doc.state.reading.model.tasks.find((x) => x.name === name);
    if (!task) throw new Error(`no task ${name}`);
    return commit(doc, t, task, column, value, []);
  };
  return { doc, put };
}

describe("the rows of the list", () => {
  it("are in the order of the text, by name with its numbers, or by depth with circles last", () => {
    expect(names("", "text")).toEqual(["z10", "z9", "b", "a", "loop", "loop2"]);
    expect(names("", "name")).toEqual(["a", "b", "loop", "loop2", "z9", "z10"]);
    expect(names("", "depth")).toEqual(["b", "z10", "a", "z9", "loop", "loop2"]);
    expect([...depthsOf(tasks)]).toEqual([
      ["b", 0],
      ["z10", 1],
      ["a", 2],
      ["z9", 3],
    ]);
  });

  it("are those in which every word of the filter stands", () => {
    expect(names("SHELL", "text")).toEqual(["z10", "z9"]);
    expect(names("shell big", "text")).toEqual(["z9"]);
    expect(names("nothing", "text")).toEqual([]);
    expect(rangeOf(tasks, 3, 1)).toEqual(["z9", "b", "a"]);
    expect(namesIn(" a,, b , a")).toEqual(["a", "b"]);
  });

  it("are walked by keys", () => {
    const at = { row: 30, column: 2 };
    expect(moved("PageDown", false, at, 100)).toEqual({ row: 50, column: 2 });
    expect(moved("End", true, at, 100)).toEqual({ row: 100, column: 2 });
    expect(moved("End", false, at, 100)).toEqual({ row: 30, column: columns.length - 1 });
    expect(moved("x", false, at, 100)).toBeUndefined();
    expect(columns.filter(canEdit)).toEqual(["name", "type", "needs", "worker_group", "retries", "timeout"]);
  });
});

describe("what is typed into a cell", () => {
  it("is one step of the history, and an emptied cell goes back to what is inherited", () => {
    const { doc, put } = open();
    expect(put("b", "retries", "3")).toBeUndefined();
    expect(put("b", "timeout", "30m")).toBeUndefined();
    expect(doc.state.history.text).toContain("{name: b, type: http, retry: {times: 3}, timeout: {after: 30m}}");
    expect(doc.state.history.past).toHaveLength(2);
    expect(put("b", "retries", "")).toBeUndefined();
    expect(doc.state.history.text).toContain("{name: b, type: http, timeout: {after: 30m}}");
    expect(put("z9", "worker_group", "big")).toBeUndefined();
    expect(doc.state.history.past).toHaveLength(3);
    const again = doc.state.reading.model.tasks[2];
    expect(again && textOf(again, "timeout")).toBe("30m");
  });

  it("renames with its references, and is refused with the reason", () => {
    const { doc, put } = open();
    expect(put("b", "name", "A")).toBe("form.bad.name_taken");
    expect(put("b", "name", "")).toBe("form.bad.required");
    expect(put("b", "needs", "nobody")).toBe("list.noTask");
    expect(put("b", "needs", "a")).toBe("list.cycle");
    expect(doc.state.history.text).toBe(text);
    expect(put("b", "name", "begin")).toBeUndefined();
    expect(doc.state.history.text).toContain("needs: [begin]");
    expect(put("a", "needs", "z10, begin")).toBeUndefined();
    expect(doc.state.reading.model.tasks[3]?.needs).toEqual(["z10", "begin"]);
  });
});
