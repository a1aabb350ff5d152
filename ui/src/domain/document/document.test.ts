import { describe, expect, it } from "vitest";
import { copyTasks, pasteTasks } from "./clipboard";
import { type Edit, setField } from "./edit";
import { isPlain } from "./format";
import { hardTexts } from "./random";
import { type Good, type Reading, read } from "./read";
import { reread } from "./reread";
import {
  addEdge,
  addTask,
  badName,
  deleteTasks,
  freeName,
  insertOnEdge,
  moveEdge,
  removeEdge,
  renameTask,
  setNeeds,
  setTaskField,
} from "./tasks";
import { applySplices } from "./text";

const text = `# nightly load
name: nightly     # keep the spaces
params:
  region: eu      # one region


tasks:
  # takes the rows out
  - name: extract
    type: shell
    outputs: [rows]
    script: |
      set -e   # not a YAML comment

      ./extract "$region"
  - {name: "load dim", type: http, needs: [extract], url: 'https://x/?rows=\${extract.rows}&r=$\${extract.rows}'}   # flow
  - name: report
    type: noop
    needs:
      - extract    # early
      - load dim
`;

function good(source: string): Good {
  const reading = read(source);
  if (!reading.good) throw new Error(reading.errors[0]?.message);
  return reading;
}

function applied(edit: Edit, source = text): string {
  if (!edit.ok) throw new Error(JSON.stringify(edit.refusal));
  return applySplices(source, edit.splices);
}

const code = (edit: Edit) => (edit.ok ? "" : edit.refusal.code);

describe("a document", () => {
  it("keeps every comment and space when a task is renamed, and lets needs and references follow (journey 4)", () => {
    const expected = text
      .replace("- name: extract", "- name: pull")
      .replace("needs: [extract]", "needs: [pull]")
      .replace(`?rows=\${extract.rows}`, `?rows=\${pull.rows}`)
      .replace("- extract    #", "- pull    #");
    expect(applied(renameTask(good(text), "extract", "pull"))).toBe(expected);
  });

  it("keeps the last good model while the text is broken, names the line, and refuses to rewrite (journey 5)", () => {
    const before = good(text);
    const broken = read(text.replace("type: noop", "type: [noop"), before);
    expect(broken.good).toBe(false);
    expect(broken.model).toBe(before.model);
    expect(broken.errors[0]?.line).toBeGreaterThanOrEqual(18);
    expect(code(renameTask(broken, "report", "x"))).toBe("broken_text");
    expect(read(text, broken)).toMatchObject({ good: true, model: before.model });
  });

  it("refuses a cycle with its path, itself, a second edge and names that are not there (journey 8)", () => {
    const here = good(text);
    expect(addEdge(here, "report", "extract")).toEqual({
      ok: false,
      refusal: { code: "cycle", args: { path: "extract → report → extract" } },
    });
    expect(code(addEdge(here, "report", "report"))).toBe("self_edge");
    expect(code(addEdge(here, "extract", "report"))).toBe("edge_exists");
    expect(code(addEdge(here, "nobody", "report"))).toBe("no_such_task");
    expect(code(removeEdge(here, "report", "extract"))).toBe("no_such_edge");
    expect(code(renameTask(here, "report", "EXTRACT"))).toBe("name_taken");
    expect(code(renameTask(here, "report", "-x"))).toBe("invalid_name");
  });

  it("inserts on an edge, moves an edge and sets needs in the style that stands there", () => {
    const inserted = applied(insertOnEdge(good(text), "load dim", "report", { name: "check", type: "noop" }));
    expect(inserted).toBe(
      text
        .replace("# flow\n", "# flow\n  - {name: check, type: noop, needs: [load dim]}\n")
        .replace("      - load dim\n", "      - check\n"),
    );
    const three = "tasks:\n  - {name: a}\n  - {name: b}\n  - {name: c, needs: [a]} # c\n";
    expect(applied(moveEdge(good(three), { from: "a", to: "c" }, { from: "b" }), three)).toBe(three.replace("[a]", "[b]"));
    const other = applied(moveEdge(good(three), { from: "a", to: "c" }, { to: "b" }), three);
    expect(other).toBe("tasks:\n  - {name: a}\n  - {name: b, needs: [a]}\n  - {name: c} # c\n");
    expect(code(moveEdge(good(text), { from: "extract", to: "load dim" }, { to: "report" }))).toBe("edge_exists");
    expect(code(moveEdge(good(text), { from: "load dim", to: "report" }, { to: "extract" }))).toBe("cycle");
  });

  it("changes one line of a script and leaves the others as they are", () => {
    const edit = setTaskField(good(text), "extract", ["script"], 'set -e   # not a YAML comment\n\n./extract "$region" now\n');
    expect(applied(edit)).toBe(text.replace('"$region"', '"$region" now'));
    expect(edit).toEqual({
      ok: true,
      splices: [{ from: text.indexOf('"$region"') + 9, to: text.indexOf('"$region"') + 9, insert: " now" }],
    });
  });

  it("keeps the comment of a line that becomes a block, and of a block that becomes a line", () => {
    const line = "tasks:\n  - name: a\n    script: ls   # why\n    type: shell\n";
    const block = "tasks:\n  - name: a\n    script: |   # why\n      one\n      two\n    type: shell\n";
    expect(applied(setTaskField(good(line), "a", ["script"], "one\ntwo\n"), line)).toBe(block);
    expect(applied(setTaskField(good(block), "a", ["script"], ""), block)).toBe(line.replace("ls", "''"));
  });

  it("tells blank lines below a script from lines of spaces that are its text", () => {
    const spaces = "tasks:\n  - name: a\n    script: |\n      one\n        \n\n  - name: b\n";
    expect(good(spaces).model.tasks[0]?.fields.script).toBe("one\n  \n");
    expect(applied(setTaskField(good(spaces), "a", ["script"], "two\n"), spaces)).toBe(
      "tasks:\n  - name: a\n    script: |\n      two\n\n  - name: b\n",
    );
  });

  it("writes block and flow as its neighbours do, and JSON as JSON", () => {
    expect(applied(addTask(good(text), { name: "end", type: "noop", needs: ["report"] }))).toBe(
      `${text}  - name: end\n    type: noop\n    needs: [report]\n`,
    );
    const json = '{\n  "name": "w",\n  "tasks": [\n    {"name": "a", "type": "noop"}\n  ]\n}\n';
    const grown = applied(addTask(good(json), { name: "b", type: "noop", needs: ["a"] }), json);
    expect(JSON.parse(grown)).toEqual({
      name: "w",
      tasks: [
        { name: "a", type: "noop" },
        { name: "b", type: "noop", needs: ["a"] },
      ],
    });
    expect(grown.split("\n")).toHaveLength(8);
    expect(applied(addTask(good(""), { name: "a", type: "noop" }), "")).toBe("tasks:\n  - name: a\n    type: noop\n");
    expect(applied(setField(good("# only a note\n"), ["name"], "w"), "# only a note\n")).toBe("# only a note\nname: w\n");
  });

  it("takes tasks away with their edges", () => {
    const left = applied(deleteTasks(good(text), ["extract"]));
    expect(good(left).model.tasks.map((t) => [t.name, t.needs])).toEqual([
      ["load dim", []],
      ["report", ["load dim"]],
    ]);
    for (const note of ["# nightly load", "# keep the spaces", "# takes the rows out", "# flow"]) expect(left).toContain(note);
    expect(good(applied(deleteTasks(good(text), ["extract", "load dim", "report"]))).model.tasks).toEqual([]);
  });

  it("copies three tasks with inner edges into another workflow under free names (journey 7)", () => {
    const clip = copyTasks(good(text), ["extract", "load dim"]);
    expect(clip).toContain("# flow");
    const other = "name: other\ntasks:\n- name: extract\n  type: noop\n";
    const pasted = pasteTasks(good(other), clip);
    expect(pasted.names).toEqual(["extract_2", "load dim"]);
    const model = good(applied(pasted, other)).model;
    expect(model.tasks.map((t) => [t.name, t.needs])).toEqual([
      ["extract", []],
      ["extract_2", []],
      ["load dim", ["extract_2"]],
    ]);
    expect(model.tasks[2]?.fields.url).toBe(`https://x/?rows=\${extract_2.rows}&r=$\${extract.rows}`);
    for (const other of [clip, text, "name: one\ntype: noop\n", "- {name: one, type: noop}"])
      expect(pasteTasks(good(text), other).ok, other).toBe(true);
    for (const nothing of ["", "hello", "[1, 2]", "a: [", "tasks: []"])
      expect(code(pasteTasks(good(text), nothing)), nothing).toBe("nothing_to_paste");
  });

  it("sets needs keeping the lines of those that stay", () => {
    expect(applied(setNeeds(good(text), "report", ["load dim"]))).toBe(text.replace("      - extract    # early\n", ""));
    expect(applied(setNeeds(good(text), "report", []))).toBe(text.replace(/ {4}needs:\n.*\n.*\n$/, ""));
    expect(good(applied(setNeeds(good(text), "extract", ["x", "y"]))).model.tasks[0]?.needs).toEqual(["x", "y"]);
  });

  it("sets needs so that every name stands once, in what is asked for and in what was there", () => {
    const needs = (source: string, names: string[]) => good(applied(setNeeds(good(source), "b", names), source)).model.tasks[0]?.needs;
    const twice = "name: w\ntasks:\n  - name: b\n    type: noop\n    needs: [a, a]\n";
    expect(needs(twice, ["a", "c"])).toEqual(["a", "c"]);
    expect(needs(twice, ["a", "a"])).toEqual(["a"]);
    expect(needs(twice, [])).toEqual([]);
    expect(needs(twice.replace("[a, a]", "[a]"), ["a", "c", "c"])).toEqual(["a", "c"]);
    expect(needs(twice.replace("    needs: [a, a]\n", ""), ["c", "c"])).toEqual(["c"]);
  });

  it("refuses anchors, aliases, tags, several documents and repeated keys with their line", () => {
    const wrong: [string, string, number][] = [
      ["name: &a w\n", "yaml_feature", 1],
      ["name: w\ndescription: !!str 3\n", "yaml_feature", 2],
      ["name: w\n---\nname: x\n", "yaml_feature", 2],
      ["name: w\nname: x\n", "duplicate_key", 2],
      ["- a\n", "wrong_type", 1],
      ["name: w\ntasks: {a: 1}\n", "wrong_type", 2],
      ["name: w\ntasks:\n  - x\n", "wrong_type", 3],
    ];
    for (const [source, expected, line] of wrong) {
      const reading: Reading = read(source);
      expect(reading.errors[0], source).toMatchObject({ code: expected, line });
    }
  });

  it("leaves a text bare only where every reader takes it for that text", () => {
    for (const value of hardTexts) if (isPlain(value, false)) expect(good(`k: ${value}\n`).model.fields.k).toBe(value);
    for (const value of ["yes", "No", "1:30", "0x1f", "2030-01-01", "~", "a #b", "a: b"]) expect(isPlain(value, false), value).toBe(false);
  });

  it("knows good names and free ones by the server's rule", () => {
    expect(["a b", "日本", "a.b-c_", "x".repeat(128)].map(badName)).toEqual([undefined, undefined, undefined, undefined]);
    expect(["", ".a", "a ", "a/b", "x".repeat(129), "e\u0301"].map(badName)).toEqual([
      "required",
      "invalid_name",
      "invalid_name",
      "invalid_name",
      "too_large",
      "invalid_name",
    ]);
    expect(freeName("a", new Set(["a", "a_2"]))).toBe("a_3");
    expect(freeName("a_2", new Set(["a", "a_2"]))).toBe("a_3");
  });

  it("reads 2,000 tasks and prints the time", () => {
    const many = `name: w\ntasks:\n${Array.from({ length: 2000 }, (_, i) => `  - name: t${i}\n    type: shell\n    script: echo ${i}   # n\n${i > 1 ? `    needs: [t${i - 1}, t${i - 2}]\n` : ""}`).join("")}`;
    const from = performance.now();
    const reading = good(many);
    const middle = performance.now();
    const renamed = applied(renameTask(reading, "t999", "renamed"), many);
    console.info(
      `read of 2,000 tasks, ${many.length} characters: ${Math.round(middle - from)} ms, rename: ${Math.round(performance.now() - middle)} ms`,
    );
    expect(good(renamed).model.tasks[1000]?.needs).toEqual(["renamed", "t998"]);
    const edit = setTaskField(reading, "t999", ["script"], "echo changed");
    const again = performance.now();
    const next = edit.ok ? reread(reading, edit.splices) : reading;
    console.info(`read again after an edit of one task: ${Math.round(performance.now() - again)} ms`);
    expect(next.model.tasks[999]?.fields.script).toBe("echo changed");
  }, 60_000);
});
