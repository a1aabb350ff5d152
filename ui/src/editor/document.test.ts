import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { casesOf, elseOf } from "../domain/document/branches";
import type { Forms } from "../domain/document/local";
import { read } from "../domain/document/read";
import { add, branch, connect, copy, disconnect, duplicate, insert, move, paste, remove, rename } from "./commands";
import { Document } from "./document";
import { inPlaceMax, localReader } from "./reader";

const text = `name: n # kept
tasks:
  # the first
  - name: a
    type: shell
    script: echo
  - name: b
    type: noop
    needs: [a]
`;

function open(from = text) {
  const waiting: (() => void)[] = [];
  let at = 0;
  const doc = new Document(
    from,
    { a: { x: 0, y: 0 } },
    {
      reader: localReader,
      now: () => (at += 1000),
      after: (_, run) => {
        waiting.push(run);
        return () => waiting.splice(waiting.indexOf(run), 1);
      },
    },
  );
  const pause = () => {
    for (const run of waiting.splice(0)) run();
  };
  return { doc, names: () => doc.state.reading.model.tasks.map((t) => t.name), pause };
}

describe("the document", () => {
  it("undoes and redoes every command step by step, text and places alike", () => {
    const { doc } = open();
    const steps = [
      () => add(doc, { name: "c", type: "noop" }, { at: { x: 5, y: 6 } }),
      () => connect(doc, "b", "c"),
      () => insert(doc, { from: "a", to: "b" }, { name: "mid", type: "noop" }, { x: 1, y: 2 }),
      () => rename(doc, "a", "first"),
      () => move(doc, { first: { x: 9, y: 9 } }),
      () => duplicate(doc, ["b", "c"], { x: 10, y: 10 }),
      () => disconnect(doc, [{ from: "b", to: "c" }]),
      () => paste(doc, copy(doc, ["mid"])),
      () => remove(doc, ["mid", "b"]),
    ];
    const seen = [doc.state.history];
    for (const step of steps) {
      expect(step()).not.toBe(false);
      seen.push(doc.state.history);
      expect(doc.state.reading).toEqual(read(doc.state.history.text));
    }
    expect(new Set(seen.map((s) => s.text + JSON.stringify(s.places))).size).toBe(seen.length);
    const like = (h: (typeof seen)[number] | undefined) => expect(doc.state.history).toMatchObject({ text: h?.text, places: h?.places });
    for (const before of seen.slice(0, -1).reverse()) {
      doc.undo();
      like(before);
    }
    for (const after of seen.slice(1)) {
      doc.redo();
      like(after);
    }
    expect(doc.state.history.text).toContain("# kept");
  });

  it("keeps the last good graph while a text is broken, refuses edits, and lives again after undo", () => {
    const { doc, names, pause } = open();
    const at = doc.state.history.text.indexOf("[a]");
    doc.type([{ from: at, to: at + 3, insert: "[a" }], { anchor: at, head: at });
    expect(doc.state.settled).toBe(false);
    pause();
    expect(doc.state.reading.good).toBe(false);
    expect(names()).toEqual(["a", "b"]);
    expect(doc.state.problems.all[0]?.at.line).toBeGreaterThan(7);
    expect(connect(doc, "b", "a")).toBe(false);
    expect(doc.state.refusal?.code).toBe("broken_text");
    expect(doc.state.history.text).toContain("needs: [a\n");
    doc.undo();
    pause();
    expect(doc.state.reading.good).toBe(true);
    expect(doc.state.history.text).toBe(text);
  });

  it("says why a command was not done, and forgets it with the next", () => {
    const { doc } = open();
    expect(connect(doc, "b", "a")).toBe(false);
    expect(doc.state.refusal).toMatchObject({ code: "cycle", args: { path: "a → b → a" } });
    expect(connect(doc, "a", "a")).toBe(false);
    expect(doc.state.refusal?.code).toBe("self_edge");
    doc.undo();
    expect(doc.state.refusal).toBeUndefined();
  });

  it("reads a long text elsewhere, and takes no answer for a text that has moved on", async () => {
    const { doc, pause } = open(`${text}# ${"x".repeat(inPlaceMax)}\n`);
    const end = doc.state.history.text.length;
    doc.type([{ from: end, to: end, insert: "x: [\n" }], { anchor: end, head: end });
    pause();
    doc.undo();
    await Promise.resolve();
    expect(doc.state.reading.good).toBe(true);
  });

  it("drops findings of another text", () => {
    const { doc } = open();
    doc.found("other", [{ field: "name", code: "required", message: "" }]);
    expect(doc.state.problems.all).toEqual([]);
    doc.found(text, [{ field: "tasks[1].needs[0]", code: "unknown", message: "" }]);
    expect(doc.state.problems.ofTask.get("b")).toHaveLength(1);
  });

  it("decides by itself what the server found before the schemas came", () => {
    const empty = "name: n\ntasks: []\n";
    const { doc, pause } = open(empty);
    doc.found(empty, [{ field: "tasks", code: "out_of_range", message: "has 0 entries, at least 1 are needed" }]);
    const forms = new URL("../../../apiserver/testdata/task_types.json", import.meta.url);
    doc.describe(JSON.parse(readFileSync(forms, "utf8")) as Forms);
    expect(doc.state.problems.all).toHaveLength(1);
    doc.type([{ from: 0, to: empty.length, insert: text }], { anchor: 0, head: 0 });
    pause();
    expect(doc.state.problems.all).toEqual([]);
    doc.close();
  });
});

describe("the branch of an edge", () => {
  const switched = `name: n
tasks:
  - name: route   # by size
    type: switch
    cases:
      # few
      - {when: rows < 10, then: [small]}   # at once
      - when: rows < 100
    else: [large, small]
  - {name: small, type: noop, needs: [route]}   # done
  - name: large
    type: noop
    needs: [route]
  - name: other
    type: noop
`;
  const branches = (text: string) => {
    const task = read(text).model.tasks[0];
    return task && [casesOf(task).map((c) => c.then), elseOf(task)];
  };

  it("is drawn, changed and taken away in one step each, and comments stay", () => {
    const { doc } = open(switched);
    const steps: [() => boolean, unknown][] = [
      [
        () => branch(doc, { from: "route", to: "other" }, 1),
        [
          [["small"], ["other"]],
          ["large", "small"],
        ],
      ],
      [() => branch(doc, { from: "route", to: "small" }, 1), [[[], ["other", "small"]], ["large"]]],
      [() => branch(doc, { from: "route", to: "large" }, "any"), [[[], ["other", "small"]], []]],
      [() => branch(doc, { from: "route", to: "large" }, "else"), [[[], ["other", "small"]], ["large"]]],
      [() => disconnect(doc, [{ from: "route", to: "small" }]), [[[], ["other"]], ["large"]]],
    ];
    const texts = [doc.state.history.text];
    for (const [run, want] of steps) {
      expect(run()).toBe(true);
      const { text } = doc.state.history;
      expect(branches(text)).toEqual(want);
      for (const comment of ["# by size", "# few", "# at once", "# done"]) expect(text).toContain(comment);
      texts.push(text);
    }
    expect(doc.state.reading.model.tasks.map((t) => t.needs)).toEqual([[], [], ["route"], ["route"]]);
    for (const text of texts.slice(0, -1).reverse()) {
      doc.undo();
      expect(doc.state.history.text).toBe(text);
    }
  });

  it("is refused where the edge would close a circle", () => {
    const { doc } = open(switched.replace("    type: switch\n", "    type: switch\n    needs: [other]\n"));
    expect(branch(doc, { from: "route", to: "other" }, "else")).toBe(false);
    expect(doc.state.refusal?.code).toBe("cycle");
  });
});
