import { describe, expect, it } from "vitest";
import { Random, randomWorkflow } from "./random";
import { type Good, read } from "./read";
import { reread } from "./reread";
import { addTask, deleteTasks, insertOnEdge } from "./tasks";
import { applySplices, type Splice } from "./text";

function good(text: string): Good {
  const reading = read(text);
  if (!reading.good) throw new Error(JSON.stringify(reading.errors));
  return reading;
}

const snippets = [
  "\n",
  "  - name: fresh\n    type: noop\n",
  "- name: x\n",
  "# note\n",
  "  ",
  "[",
  "params:\n  a: 1\n",
  "needs: [a]",
  "|\n",
  "---\n",
  "\t",
  "x",
];

// Any splices, sensible or not: at the starts of lines more often than elsewhere, since that is where tasks begin.
function anySplices(r: Random, text: string): Splice[] {
  const places = () => {
    const at = r.below(text.length + 1);
    return r.chance(0.6) ? text.lastIndexOf("\n", at) + 1 : at;
  };
  const out: Splice[] = [];
  for (let n = 1 + r.below(3); n > 0; n--) {
    const [a, b] = [places(), places()];
    const from = Math.min(a, b);
    const to = r.chance(0.5) ? from : Math.min(Math.max(a, b), from + 120);
    if (out.some((s) => s.from <= to && from <= s.to)) continue;
    out.push({ from, to, insert: r.chance(0.6) ? r.pick(snippets) : "" });
  }
  return out;
}

describe("reading again", () => {
  it("gives what a whole reading gives, whatever is done to the text", () => {
    let incremental = 0;
    for (let seed = 1; seed <= 500; seed++) {
      const r = new Random(seed);
      const last = good(randomWorkflow(r));
      const splices = anySplices(r, last.text);
      const text = applySplices(last.text, splices);
      const next = reread(last, splices);
      expect(next, `seed ${seed}\n${last.text}\n-----\n${text}`).toEqual(read(text, last));
      if (next !== last && next.good && next.model.tasks.some((t) => last.model.tasks.includes(t))) incremental++;
    }
    expect(incremental).toBeGreaterThan(10);
  }, 60_000);

  it("does not read the tasks that an added, inserted or removed one leaves alone", () => {
    const tasks = Array.from({ length: 50 }, (_, i) => `  - name: t${i}\n    type: noop\n${i > 0 ? `    needs: [t${i - 1}]\n` : ""}`).join(
      "",
    );
    const last = good(`name: n\ntasks:\n${tasks}`);
    const edits = {
      added: addTask(last, { name: "new", type: "noop", needs: ["t49"] }, "t49"),
      between: insertOnEdge(last, "t20", "t21", { name: "new", type: "noop" }),
      removed: deleteTasks(last, ["t10", "t30"]),
      last: deleteTasks(last, ["t49"]),
    };
    for (const [what, edit] of Object.entries(edits)) {
      if (!edit.ok) throw new Error(what);
      const next = reread(last, edit.splices);
      expect(next, what).toEqual(read(applySplices(last.text, edit.splices), last));
      expect(next.model.tasks[0], what).toBe(last.model.tasks[0]);
      expect(next.model.tasks[5]?.fields, what).toBe(last.model.tasks[5]?.fields);
    }
  });
});
