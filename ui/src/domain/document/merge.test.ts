import { describe, expect, it } from "vitest";
import { merge } from "./merge";
import { type Good, read } from "./read";

function good(text: string): Good {
  const reading = read(text);
  if (!reading.good) throw new Error(reading.errors[0]?.message);
  return reading;
}

const base = `name: w   # the flow
params: {region: eu}
tasks:
  # first
  - name: a
    type: shell   # sh
    script: echo a
  - name: b
    type: shell
    needs: [a]
    script: |
      echo b
`;

const merged = (mine: string, theirs: string, choices = {}) => merge({ base: good(base), mine: good(mine), theirs: good(theirs) }, choices);

describe("a merge by task", () => {
  it("puts edits of different tasks together and keeps their comments", () => {
    const mine = base.replace("echo a", "echo mine # ours");
    const theirs = base.replace("echo b", "echo theirs").replace("# first", "# first of all");
    const out = merged(mine, theirs);
    expect(out.conflicts).toEqual([]);
    expect(out.text).toBe(theirs.replace("echo a", "echo mine # ours"));
    expect(out.changed).toEqual(["a"]);
  });

  it("puts edits of different fields of one task together", () => {
    const mine = base.replace("type: shell   # sh", "type: python   # sh");
    const theirs = base.replace("echo a", "echo theirs # new");
    expect(merged(mine, theirs).text).toBe(theirs.replace("type: shell   # sh", "type: python   # sh"));
  });

  it("lists an edit of the same field with both values, keeps theirs, and takes mine when it is chosen", () => {
    const mine = base.replace("echo a", "echo mine");
    const theirs = base.replace("echo a", "echo theirs");
    const out = merged(mine, theirs);
    expect(out.conflicts).toEqual([
      { id: "task a script", task: "a", field: "script", base: "echo a", mine: "echo mine", theirs: "echo theirs" },
    ]);
    expect([out.text, out.open]).toEqual([theirs, 1]);
    const chosen = merged(mine, theirs, { "task a script": "mine" });
    expect([chosen.text, chosen.open]).toEqual([mine, 0]);
  });

  it("adds tasks of both sides and joins their needs", () => {
    const mine = `${base}  - name: m # of ours\n    type: noop\n`.replace("needs: [a]", "needs: [a, m]");
    const theirs = `${base}  - {name: t, type: noop}\n`.replace("needs: [a]", "needs: [a, t]");
    const out = merged(mine, theirs);
    expect(out.conflicts).toEqual([]);
    const model = good(out.text).model;
    expect(model.tasks.map((t) => t.name)).toEqual(["a", "b", "m", "t"]);
    expect(model.tasks[1]?.needs).toEqual(["a", "t", "m"]);
    expect(out.text).toContain("- name: m # of ours");
  });

  it("removes what we removed, and asks where they changed it", () => {
    const mine = "name: w   # the flow\nparams: {region: eu}\ntasks:\n  # first\n  - name: a\n    type: shell   # sh\n    script: echo a\n";
    expect(merged(mine, base).text).toBe(mine);
    const theirs = base.replace("echo b", "echo theirs");
    const out = merged(mine, theirs);
    expect(out.text).toBe(theirs);
    expect(out.conflicts).toMatchObject([{ id: "task b *", task: "b", field: undefined, mine: undefined }]);
    expect(merged(mine, theirs, { "task b *": "mine" }).text).toBe(mine);
  });

  it("merges workflow fields and single parameters", () => {
    const mine = base.replace("{region: eu}", "{region: eu, day: 1}");
    const theirs = base.replace("{region: eu}", "{region: us}");
    const out = merged(mine, theirs);
    expect(out.conflicts).toEqual([]);
    expect(out.text).toBe(base.replace("{region: eu}", "{region: us, day: 1}"));
  });

  it("is nothing where both sides did the same, and keeps a comment that only we added", () => {
    const same = base.replace("echo a", "echo x");
    expect(merged(same, same)).toMatchObject({ text: same, splices: [], conflicts: [], open: 0 });
    const noted = base.replace("script: echo a", "script: echo a # why");
    expect(merged(noted, base).text).toBe(noted);
  });
});
