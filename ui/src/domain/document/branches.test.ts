import { describe, expect, it } from "vitest";
import { copyTasks, pasteTasks } from "./clipboard";
import type { Edit } from "./edit";
import { moveItem } from "./order";
import { read } from "./read";
import { deleteTasks, insertOnEdge, moveEdge, removeEdge, renameTask, setNeeds } from "./tasks";
import { applySplices } from "./text";

const text = `name: w
tasks:
  - name: count
    type: shell
  - name: route   # chooses
    type: switch
    needs: [count]
    cases:
      # nothing there
      - when: count.rows == 0   # first
        then: []
      # a little
      - {when: 'count.rows < 1000', then: [load, note]}   # second
      - when: task("count").state == "success"
        then:
          - note   # last
    else: [parts]
  - {name: load, type: shell, needs: [route], when: route.state == "success"}
  - name: parts
    type: shell
    needs: [route]
    join: count.state != "failed"
  - name: note
    type: noop
    needs: [route]
`;

const applied = (edit: Edit, source = text) => {
  if (!edit.ok) throw new Error(JSON.stringify(edit.refusal));
  return applySplices(source, edit.splices);
};

describe("branches", () => {
  it("follow a new name of a task, and conditions do, with every comment kept", () => {
    expect(applied(renameTask(read(text), "note", "tell"))).toBe(text.replaceAll("note", "tell"));
    expect(applied(renameTask(read(text), "count", "how many"))).toBe(
      text
        .replace("- name: count", "- name: how many")
        .replace("[count]", "[how many]")
        .replace("count.rows == 0", `task("how many").rows == 0`)
        .replace("count.rows < 1000", `task("how many").rows < 1000`)
        .replace(`task("count")`, `task("how many")`)
        .replace("count.state != ", `task("how many").state != `),
    );
  });

  it("lose a task that is deleted, and stay where it was their only one", () => {
    expect(applied(deleteTasks(read(text), ["note", "parts"]))).toBe(
      text
        .slice(0, text.indexOf("  - name: parts"))
        .replace("[load, note]", "[load]")
        .replace("then:\n          - note   # last", "then: []   # last")
        .replace("[parts]", "[]"),
    );
  });

  it("are kept among copied tasks, under the names that those get", () => {
    const clip = copyTasks(read(text), ["route", "load"]);
    expect(clip).toContain("then: [load]}   # second");
    expect(clip).toContain("else: []");
    const pasted = pasteTasks(read(text), clip);
    const now = read(applied(pasted));
    expect(pasted.names).toEqual(["route_2", "load_2"]);
    const [route, load] = now.model.tasks.slice(-2);
    expect(route?.fields).toMatchObject({ cases: [{ then: [] }, { then: ["load_2"] }, { then: [] }], else: [] });
    expect(load?.fields).toMatchObject({ needs: ["route_2"], when: 'route_2.state == "success"' });
    const json = '{"tasks": [{"name": "old", "type": "noop"}]}';
    const inJSON = read(applied(pasteTasks(read(json), clip), json));
    expect(inJSON.model.tasks[1]?.fields).toMatchObject({ cases: [{ then: [] }, { then: ["load"] }, { then: [] }], else: [] });
    const loose = "- {name: r, type: switch, cases: [{when: x, then: [nobody, s]}], else: [nobody]}\n- {name: s, needs: [r]}\n";
    for (const into of [json, text]) {
      const now = read(applied(pasteTasks(read(into), loose), into)).model.tasks.at(-2);
      expect(now?.fields).toMatchObject({ name: "r", cases: [{ then: ["s"] }], else: [] });
    }
  });

  it("go with their edge: a task that comes between takes the place, and without an edge there is none", () => {
    const inserted = read(applied(insertOnEdge(read(text), "route", "load", { name: "check", type: "noop" })));
    expect(inserted.model.tasks[1]?.fields).toMatchObject({ cases: [{}, { then: ["check", "note"] }, {}] });
    expect(applied(removeEdge(read(text), "route", "parts"))).toContain("else: []");
    expect(applied(setNeeds(read(text), "parts", []))).toContain("else: []");
    expect(applied(moveEdge(read(text), { from: "route", to: "parts" }, { from: "count" }))).toContain("else: []");
    const free = `${text}  - {name: free, type: noop}\n  - {name: next, type: noop, needs: [route]}\n`;
    expect(applied(moveEdge(read(free), { from: "route", to: "parts" }, { to: "free" }), free)).toContain("else: [free]");
    expect(applied(moveEdge(read(free), { from: "route", to: "parts" }, { from: "next" }), free)).toContain("else: [next]");
  });

  it("change places with their comments", () => {
    const at = ["tasks", 1, "cases"];
    const down = applied(moveItem(read(text), at, 0, 1));
    expect(down).toBe(
      text
        .replace("      # nothing there\n      - when: count.rows == 0   # first\n        then: []\n", "")
        .replace("# second\n", "# second\n      # nothing there\n      - when: count.rows == 0   # first\n        then: []\n"),
    );
    expect(applied(moveItem(read(down), at, 1, -1), down)).toBe(text);
    expect(moveItem(read(text), at, 7, 1).ok).toBe(false);
  });
});
