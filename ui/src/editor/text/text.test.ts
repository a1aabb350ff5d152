import { describe, expect, it } from "vitest";
import { ruleOf } from "../../domain/document/mistake";
import { read } from "../../domain/document/read";
import { applySplices } from "../../domain/document/text";
import { type Finding, problemsOf } from "../../domain/document/validate";
import { add, rename } from "../commands";
import { Document } from "../document";
import { localReader } from "../reader";
import { TaskLines } from "./place";
import { lastOf, sentenceOf } from "./sentence";
import { stepsBetween } from "./steps";
import { retryPause, type ServerState, Unauthorized, validatePause, watch } from "./validator";

const text = `name: n
tasks:
  - name: a
    type: noop

  # about b
  - name: b
    type: noop
    needs: [a]
on_failure: end
`;

function open(from = text) {
  let now = 0;
  const waiting: { at: number; run: () => void }[] = [];
  const after = (ms: number, run: () => void) => {
    const one = { at: now + ms, run };
    waiting.push(one);
    return () => {
      const i = waiting.indexOf(one);
      if (i >= 0) waiting.splice(i, 1);
    };
  };
  const pass = (ms: number) => {
    now += ms;
    for (const one of waiting.filter((w) => w.at <= now)) {
      waiting.splice(waiting.indexOf(one), 1);
      one.run();
    }
  };
  const doc = new Document(from, {}, { reader: localReader, now: () => now, after });
  return { doc, after, pass };
}

describe("a task's lines", () => {
  it("reach from its dash to the next one's, and the caret in them names it", () => {
    const lines = new TaskLines(read(text));
    expect(lines.at(text.indexOf("name: a"))).toBe("a");
    expect(lines.at(text.indexOf("# about"))).toBe("a");
    expect(lines.at(text.indexOf("  - name: b"))).toBe("b");
    expect(lines.at(text.indexOf("needs") + 3)).toBe("b");
    expect(lines.at(3)).toBeUndefined();
    expect(lines.at(text.indexOf("on_failure") + 2)).toBeUndefined();
    expect(lines.of(["b", "x"])).toEqual([{ from: text.indexOf("  - name: b"), to: text.indexOf("[a]") + 3 }]);
  });
});

describe("steps for an editor", () => {
  it("lead from each state to the next through changes, undo and redo, and are small", () => {
    const { doc } = open();
    const seen = [doc.state.history];
    const step = (run: () => void) => {
      run();
      seen.push(doc.state.history);
    };
    step(() => rename(doc, "a", "first"));
    step(() => add(doc, { name: "c", type: "noop" }));
    step(() => doc.undo());
    step(() => doc.undo());
    step(() => doc.redo());
    for (let i = 1; i < seen.length; i++) {
      const [before, after] = [seen[i - 1], seen[i]];
      if (!before || !after) continue;
      let out = before.text;
      for (const set of stepsBetween(before, after)) out = applySplices(out, set);
      expect(out).toBe(after.text);
    }
    const [start, renamed] = seen;
    expect(start && renamed && stepsBetween(start, renamed).flat()).toHaveLength(2);
  });
});

describe("the server's look at the text", () => {
  const finding = (field: string): Finding => ({ field, code: "invalid", message: "m" });

  it("comes 400 ms after the last change, and an outdated question is called off", async () => {
    const { doc, after, pass } = open();
    const asked: { text: string; signal: AbortSignal; answer: (f: readonly Finding[]) => void }[] = [];
    const end = watch(doc, {
      ask: (sent, _, signal) => new Promise((answer) => asked.push({ text: sent, signal, answer })),
      after,
      tell: () => undefined,
    });
    pass(0);
    expect(asked).toHaveLength(1);
    rename(doc, "a", "a1");
    expect(asked[0]?.signal.aborted).toBe(true);
    pass(validatePause - 1);
    rename(doc, "a1", "a2");
    pass(validatePause - 1);
    expect(asked).toHaveLength(1);
    pass(1);
    expect(asked.map((a) => a.text)).toEqual([text, doc.state.history.text]);
    asked[0]?.answer([finding("name")]);
    asked[1]?.answer([finding("tasks[1]")]);
    await Promise.resolve();
    await Promise.resolve();
    expect(doc.state.problems.all.map((p) => p.field)).toEqual(["tasks[1]"]);
    end();
    rename(doc, "a2", "a3");
    pass(10 * validatePause);
    expect(asked).toHaveLength(2);
  });

  it("says that the server is away, keeps what is known, and asks again", async () => {
    const { doc, after, pass } = open(text.replace("[a]", "[x]"));
    const told: ServerState[] = [];
    let error: Error | undefined = new Error("no network");
    watch(doc, { ask: async () => (error ? Promise.reject(error) : []), after, tell: (s) => told.push(s) });
    pass(0);
    await new Promise(setImmediate);
    expect(told.at(-1)).toBe("away");
    expect(doc.state.problems.all.map((p) => p.code)).toEqual(["unknown_task"]);
    error = new Unauthorized();
    pass(retryPause);
    await new Promise(setImmediate);
    expect(told.at(-1)).toBe("signed_out");
    error = undefined;
    pass(retryPause);
    await new Promise(setImmediate);
    expect(told.at(-1)).toBe("done");
  });
});

describe("sentences of problems", () => {
  const say = (key: string, values?: Record<string, string | number>) => `${key} ${JSON.stringify(values)}`;

  it("name the rule that a broken text breaks, in the page's own words", () => {
    const head = "name: n\ntasks:\n";
    const broken: [string, string][] = [
      [`${head}  - name: a\n    needs: [a\n`, "bracket"],
      [`${head}  - {name: a\n`, "bracket"],
      ["name: [a, b\n", "bracket"],
      ['name: "a\n', "quote"],
      ["name: 'a\n", "quote"],
      ["name: n\ntasks\n", "colon"],
      [`${head}  - name: a\n   type: noop\n`, "indent"],
      [`${head}  - name: a\n\t  type: noop\n`, "tab"],
      ["name: a: b\n", "list_in_key"],
      ["name: @a\n", "scalar_start"],
      ['name: "\\q"\n', "escape"],
      ["name: n\nname: m\n", "twice"],
      ["name: n\n---\nname: m\n", "documents"],
      ["name: &a n\n", "anchor"],
      ["name: *a\n", "alias"],
      ["name: !!str n\n", "tag"],
      ["- a\n", "not_a_map"],
      ["tasks: a\n", "not_a_list"],
      ["tasks: [a]\n", "task_not_a_map"],
      ["name: [a]]\n", "unexpected"],
    ];
    const first = (source: string) => problemsOf(read(source), []).all[0];
    const said = broken.map(([source]) => {
      const problem = first(source);
      return [source, problem ? sentenceOf(say, problem).replace(" undefined", "") : "nothing is wrong"];
    });
    expect(said).toEqual(broken.map(([source, rule]) => [source, `text.y.${rule}`]));
  });

  it("give the parser's words where nobody has better ones", () => {
    expect(ruleOf("IMPOSSIBLE", "Map comment with trailing content")).toBeUndefined();
    expect(ruleOf("MISSING_CHAR", "something new")).toBeUndefined();
  });

  it("are the server's own words in English, ours by code where there are none, and the code at last", () => {
    expect(sentenceOf(say, { field: "name", code: "required", message: '"name" is missing' })).toBe('"name" is missing');
    expect(sentenceOf(say, { field: "tasks[0].url", code: "required", message: "" })).toMatch(/^text\.p\.required .*"field":"url"/);
    expect(sentenceOf(say, { field: "tasks[0].x", code: "out_of_range", message: "" })).toMatch(/^text\.p\.out_of_range\.bare/);
    expect(sentenceOf(say, { field: "x", code: "brand_new", message: "" })).toBe("brand_new");
    expect(lastOf("tasks[12].retry.times")).toBe("retry.times");
  });
});
