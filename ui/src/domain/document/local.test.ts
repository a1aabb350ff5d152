import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { circle, groups } from "./circles";
import { type Forms, joined, localFindings } from "./local";
import { read } from "./read";
import type { Finding } from "./validate";

// Files that the Go tests write: both sides are held against the same answers.
const golden = <T>(path: string): T => JSON.parse(readFileSync(new URL(`../../../../${path}`, import.meta.url), "utf8"));
const forms = golden<Forms>("apiserver/testdata/task_types.json");
const listed = golden<{ name: string; text: string; findings: Finding[] }[]>("dag/testdata/findings.json");
const answered = golden<{ errors: Finding[] }>("apiserver/testdata/validate.json");
const circled = golden<{ errors: Finding[] }>("apiserver/testdata/validate_graph.json");

const keys = (findings: readonly Finding[]) => findings.map((f) => `${f.field} ${f.code}`).sort();

// What the page finds wherever the server does.
const decided = new Set([
  ...["required", "null", "wrong_type", "unknown_field", "unknown_type", "not_in_enum"],
  ...["duplicate_name", "unknown_task", "duplicate_edge", "self_loop", "cycle"],
]);

// But for what only a look at another value decides, or at the words of a script.
const serverOnly: readonly RegExp[] = [
  /^retry: .*retry required$/,
  /^(rules of )?params: params\./,
  /^a task's params are values: .* required$/,
  /outputs\[\d+\] duplicate_name$/,
  /^scripts: .*script required$/,
  /^wait: .*for required$/,
  /^worker_labels: .*\.gpu required$/,
  /\.(then\[\d+\]|else\[\d+\]|when|join|condition) (unknown_task|duplicate_edge)$/,
  /^dynamic: .* duplicate_name$/,
  /^artifacts: /,
  /^(compensate|raw scripts): .*\.compensate\./,
];

describe("findings of the page itself", () => {
  it.each(listed.map((one) => [one.name, one] as const))("are the server's: %s", (_, { text, findings }) => {
    const reading = read(text);
    if (!reading.good) return;
    const local = localFindings(reading, forms);
    const server = new Set(keys(findings));
    expect(keys(local).filter((k) => !server.has(k))).toEqual([]);
  });

  it("has each of the codes that it decides, wherever the server finds it", () => {
    const missed = listed.flatMap(({ name, text, findings }) => {
      const reading = read(text);
      if (!reading.good) return [];
      const local = new Set(keys(localFindings(reading, forms)));
      return findings.filter((f) => decided.has(f.code) && !local.has(`${f.field} ${f.code}`)).map((f) => `${name}: ${f.field} ${f.code}`);
    });
    expect(missed.filter((m) => !serverOnly.some((known) => known.test(m)))).toEqual([]);
  });

  it("says what POST /validate says", () => {
    const local = localFindings(read('{"name":"x","tasks":[{"name":"a","type":"nop"}]}'), forms);
    expect(keys(local)).toEqual(keys(answered.errors));
    expect(local[0]?.value).toBe(answered.errors[0]?.value);
    const graph = localFindings(
      read("name: w\ntasks:\n  - {name: a, type: noop, needs: [b]}\n  - {name: b, type: noop, needs: [a, c]}\n"),
      forms,
    );
    expect(keys(graph)).toEqual(keys(circled.errors));
    const args = (list: readonly Finding[]) => list.find((f) => f.code === "cycle")?.args?.tasks;
    expect(args(graph)).toEqual(args(circled.errors));
  });

  it("looks at names and needs where no schema has come yet", () => {
    const found = localFindings(read("name: w\ntasks:\n  - {name: a, type: what, needs: [b]}\n  - {name: A, type: x, needs: [a]}\n"));
    expect(keys(found)).toEqual(["tasks[0].name duplicate_name", "tasks[0].needs[0] unknown_task", "tasks[1].name duplicate_name"]);
  });

  it("names the way of a circle as people read it", () => {
    const [found] = localFindings(
      read("name: w\ntasks:\n  - {name: a, needs: [b]}\n  - {name: b, needs: [c]}\n  - {name: c, needs: [a]}\n"),
    );
    expect(found).toMatchObject({ field: "tasks[0].needs[0]", code: "cycle", args: { tasks: ["a", "b", "c", "a"] } });
  });

  it("is quick with 2,000 tasks", () => {
    const tasks = Array.from(
      { length: 2000 },
      (_, i) => `  - name: t${i}\n    type: shell\n    script: echo ${i}\n    needs: [${i ? `t${i - 1}` : ""}]\n`,
    );
    const reading = read(`name: w\ntasks:\n${tasks.join("")}`);
    localFindings(reading, forms);
    // The processor's time, which other work on the machine does not stretch.
    const began = process.cpuUsage();
    expect(localFindings(reading, forms)).toEqual([]);
    const took = process.cpuUsage(began).user / 1000;
    console.log(`own findings of 2,000 tasks: ${took.toFixed(0)} ms`);
    expect(took).toBeLessThan(500);
  }, 60_000);
});

describe("circles", () => {
  it("are found in a chain of ten thousand without recursion", () => {
    const pred = Array.from({ length: 10_000 }, (_, i) => [(i + 9_999) % 10_000]);
    const [group = []] = groups(pred);
    expect(group).toHaveLength(10_000);
    expect(circle(pred, group)).toHaveLength(10_001);
  });
});

describe("findings of page and server together", () => {
  const before = read("name: w\ntasks:\n  - {name: a, type: noop}\n  - {name: b, type: noop}\n");
  const at = (field: string, code: string, message = "theirs"): Finding => ({ field, code, message });

  it("are the server's where both have one", () => {
    const served = { reading: before, findings: [at("tasks[0].type", "unknown_type")], local: [] };
    expect(joined(before, [at("tasks[0].type", "unknown_type", ""), at("name", "required", "")], served)).toEqual([
      at("tasks[0].type", "unknown_type"),
      at("name", "required", ""),
    ]);
  });

  it("follow their task until the server has looked again, and ours are new at once", () => {
    const served = {
      reading: before,
      findings: [at("tasks[1].url", "invalid"), at("tasks[0].url", "invalid"), at("tasks[1].needs[0]", "unknown_task")],
      local: [at("tasks[1].needs[0]", "unknown_task", "")],
    };
    const after = read("name: w\ntasks:\n  - {name: new, type: noop}\n  - {name: b, type: noop}\n  - {name: c, type: noop}\n");
    expect(joined(after, [], served)).toEqual([at("tasks[1].url", "invalid")]);
    const moved = read("name: w\ntasks:\n  - {name: b, type: noop}\n");
    expect(joined(moved, [], served)).toEqual([at("tasks[0].url", "invalid")]);
  });
});
