import { describe, expect, it } from "vitest";
import { copyTasks, pasteTasks } from "./clipboard";
import { type Edit, removeField, setField } from "./edit";
import { hardTexts, Random, randomWorkflow } from "./random";
import { type Good, type Reading, read } from "./read";
import { reread } from "./reread";
import { addEdge, addTask, deleteTasks, insertOnEdge, removeEdge, renameTask, setTaskField } from "./tasks";
import { applySplices, invertSplices } from "./text";
import type { Fields, Value } from "./tree";

interface Plain {
  fields: Record<string, Value>;
  tasks: Record<string, Value>[];
}

function good(text: string): Good {
  const reading = read(text);
  if (!reading.good) throw new Error(`${JSON.stringify(reading.errors)}\n${text}`);
  return reading;
}

function plain(reading: Reading): Plain {
  return structuredClone({ fields: { ...reading.model.fields }, tasks: reading.model.tasks.map((t) => ({ ...t.fields })) });
}

function needsOf(t: Fields): string[] {
  return Array.isArray(t.needs) ? t.needs.map(String) : [];
}

function withNeeds(t: Record<string, Value>, needs: string[]): void {
  if (needs.length > 0) t.needs = needs;
  else delete t.needs;
}

function rename(value: Value, from: string, to: string): Value {
  if (typeof value === "string") return value.replaceAll(`\${${from}.`, `\${${to}.`);
  if (Array.isArray(value)) return value.map((v) => rename(v, from, to));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, rename(v, from, to)]));
  return value;
}

// Enough to find each mistake that thousands found, in a few seconds.
const seeds = 80;

// Each operation gives the edit and changes the plain model as the edit should.
type Operation = (r: Random, here: Good, model: Plain) => { edit: Edit; keepsNotes: boolean; what: string } | undefined;

const fieldNames = ["worker_group", "script", "description", "url"];

const operations: Record<string, Operation> = {
  setField(r, here, model) {
    const task = here.model.tasks.length > 0 ? r.pick(here.model.tasks) : undefined;
    const key = r.pick(fieldNames);
    const value = r.chance(0.8) ? r.pick(hardTexts) : r.pick([3, true, 0.5, -1]);
    const own = task && model.tasks[task.index];
    if (!task || !own) return undefined;
    own[key] = value;
    return { edit: setTaskField(here, task.name, [key], value), keepsNotes: true, what: `${task.name}.${key} = ${JSON.stringify(value)}` };
  },
  setNested(r, here, model) {
    const task = here.model.tasks.length > 0 ? r.pick(here.model.tasks) : undefined;
    const own = task && model.tasks[task.index];
    if (!task || !own) return undefined;
    const value = r.pick(hardTexts);
    const env = own.env;
    own.env = { ...(typeof env === "object" && env !== null && !Array.isArray(env) ? env : {}), A: value };
    return {
      edit: setTaskField(here, task.name, ["env", "A"], value),
      keepsNotes: true,
      what: `${task.name}.env.A = ${JSON.stringify(value)}`,
    };
  },
  removeField(r, here, model) {
    const task = here.model.tasks.length > 0 ? r.pick(here.model.tasks) : undefined;
    const own = task && model.tasks[task.index];
    const key = own && r.pick(Object.keys(own));
    if (!task || !own || key === undefined || key === "name") return undefined;
    delete own[key];
    return { edit: removeField(here, ["tasks", task.index, key]), keepsNotes: false, what: `remove ${task.name}.${key}` };
  },
  workflowField(r, here, model) {
    const value = r.pick(hardTexts);
    if (r.chance(0.5)) {
      model.fields.description = value;
      return { edit: setField(here, ["description"], value), keepsNotes: true, what: `description = ${JSON.stringify(value)}` };
    }
    const params = model.fields.params;
    model.fields.params = {
      ...(typeof params === "object" && params !== null && !Array.isArray(params) ? params : {}),
      day: { type: "string", default: value },
    };
    return {
      edit: setField(here, ["params", "day"], { type: "string", default: value }),
      keepsNotes: true,
      what: `params.day = ${JSON.stringify(value)}`,
    };
  },
  rename(r, here, model) {
    if (here.model.tasks.length === 0) return undefined;
    const task = r.pick(here.model.tasks);
    const to = `${r.pick(["n", "läd", "new task", "a.b"])}${r.below(1000)}`;
    if (here.model.tasks.some((t) => t.name === to)) return undefined;
    model.tasks.forEach((t, i) => {
      for (const [k, v] of Object.entries(t)) if (!["name", "needs", "script"].includes(k)) t[k] = rename(v, task.name, to);
      if (i === task.index) t.name = to;
      if (needsOf(t).includes(task.name)) t.needs = needsOf(t).map((n) => (n === task.name ? to : n));
    });
    return { edit: renameTask(here, task.name, to), keepsNotes: true, what: `rename ${task.name} ${to}` };
  },
  add(r, here, model) {
    const name = `x${r.below(100000)}`;
    const after = here.model.tasks.length > 0 && r.chance(0.5) ? r.pick(here.model.tasks) : undefined;
    const fields = { name, type: "shell", script: r.pick(hardTexts), retry: { times: 2 } };
    model.tasks.splice(after ? after.index + 1 : model.tasks.length, 0, fields);
    return {
      edit: addTask(here, fields, after?.name),
      keepsNotes: true,
      what: `add ${name} after ${after?.name} ${JSON.stringify(fields.script)}`,
    };
  },
  remove(r, here, model) {
    const names = here.model.tasks.filter(() => r.chance(0.4)).map((t) => t.name);
    model.tasks = model.tasks.filter((t) => !names.includes(String(t.name)));
    for (const t of model.tasks)
      if (needsOf(t).some((n) => names.includes(n)))
        withNeeds(
          t,
          needsOf(t).filter((n) => !names.includes(n)),
        );
    return { edit: deleteTasks(here, names), keepsNotes: false, what: `delete ${names}` };
  },
  link(r, here, model) {
    if (here.model.tasks.length < 2) return undefined;
    const [a, b] = [r.pick(here.model.tasks), r.pick(here.model.tasks)];
    const edit = addEdge(here, a.name, b.name);
    const own = model.tasks[b.index];
    if (!edit.ok || !own) return undefined;
    own.needs = [...needsOf(own), a.name];
    return { edit, keepsNotes: true, what: `link ${a.name} ${b.name}` };
  },
  unlink(r, here, model) {
    const edges = here.model.tasks.flatMap((t) => t.needs.map((n) => ({ from: n, to: t })));
    if (edges.length === 0) return undefined;
    const { from, to } = r.pick(edges);
    const own = model.tasks[to.index];
    if (!own) return undefined;
    withNeeds(
      own,
      needsOf(own).filter((n) => n !== from),
    );
    return { edit: removeEdge(here, from, to.name), keepsNotes: false, what: `unlink ${from} ${to.name}` };
  },
  insert(r, here, model) {
    const edges = here.model.tasks.flatMap((t) => t.needs.map((n) => ({ from: n, to: t })));
    if (edges.length === 0) return undefined;
    const { from, to } = r.pick(edges);
    const own = model.tasks[to.index];
    const source = model.tasks.findIndex((t) => t.name === from);
    if (!own || source < 0) return undefined;
    const name = `m${r.below(100000)}`;
    own.needs = needsOf(own).map((n) => (n === from ? name : n));
    model.tasks.splice(source + 1, 0, { name, type: "noop", needs: [from] });
    return {
      edit: insertOnEdge(here, from, to.name, { name, type: "noop" }),
      keepsNotes: true,
      what: `insert ${name} on ${from} ${to.name}`,
    };
  },
  paste(r, here, model) {
    const names = here.model.tasks.filter(() => r.chance(0.5)).map((t) => t.name);
    if (names.length === 0) return undefined;
    const result = pasteTasks(here, copyTasks(here, names));
    const to = new Map(names.map((n, i) => [n, result.names[i] ?? ""]));
    for (const t of here.model.tasks.filter((x) => names.includes(x.name))) {
      const copy: Record<string, Value> = structuredClone({ ...t.fields });
      for (const [from, name] of to)
        for (const [k, v] of Object.entries(copy)) if (!["name", "needs", "script"].includes(k)) copy[k] = rename(v, from, name);
      copy.name = to.get(t.name) ?? "";
      if (needsOf(copy).length > 0)
        withNeeds(
          copy,
          needsOf(copy).flatMap((n) => to.get(n) ?? []),
        );
      model.tasks.push(copy);
    }
    return { edit: result, keepsNotes: true, what: `paste ${names}` };
  },
};

function notes(text: string): string[] {
  return text.match(/# (note|above) \d+|# head/g) ?? [];
}

describe("random edits of random workflows", () => {
  for (const [name, operation] of Object.entries(operations)) {
    it(`${name}: the text reads as the edited model, comments stay, and the inverse gives the text back`, () => {
      let made = 0;
      for (let seed = 1; seed <= seeds; seed++) {
        const r = new Random(seed * 7919);
        let here = good(randomWorkflow(r));
        for (let step = 0; step < 4; step++) {
          const model = plain(here);
          const done = operation(r, here, model);
          if (!done) continue;
          made++;
          const { edit, keepsNotes, what } = done;
          const where = `seed ${seed} step ${step}: ${what}\n---\n${here.text}\n---\n`;
          if (!edit.ok) throw new Error(where + JSON.stringify(edit.refusal));
          const after = applySplices(here.text, edit.splices);
          const reading = read(after);
          if (!reading.good) throw new Error(`${where}${JSON.stringify(reading.errors)}\n${after}`);
          expect(plain(reading), where + after).toEqual(model);
          expect(applySplices(after, invertSplices(here.text, edit.splices)), where).toBe(here.text);
          expect(reread(here, edit.splices), where + after).toEqual(reading);
          if (keepsNotes) for (const note of notes(here.text)) expect(notes(after), where + after).toContain(note);
          here = reading;
        }
      }
      expect(made).toBeGreaterThan(60);
    }, 60_000);
  }
});
