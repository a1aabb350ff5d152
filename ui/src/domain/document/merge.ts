// Three-way merge by task: what was loaded, what was edited here, what somebody else has saved.
// The result is their text with our changes spliced in, so their comments and spacing stay.

import { itemLines, shift } from "./clipboard";
import { removeIn, setIn } from "./edit";
import { itemText } from "./format";
import { type Good, isFields, tasksOf } from "./read";
import { reread } from "./reread";
import { columnOf, linesAfter } from "./splice";
import { appendTask } from "./tasks";
import { differ, type Splice } from "./text";
import type { Fields, MapNode, Value } from "./tree";

/** Conflict is one field that both sides changed to different values; undefined is a field, or a task, that is not there. */
export interface Conflict {
  readonly id: string;
  /** The task, or undefined for the workflow's own fields. */
  readonly task: string | undefined;
  /** The field, or undefined where one side removed the whole task and the other changed it. */
  readonly field: string | undefined;
  readonly base: Value | undefined;
  readonly mine: Value | undefined;
  readonly theirs: Value | undefined;
}

/** Choices says by conflict id whose value wins. Where nothing is chosen theirs stands. */
export type Choices = Readonly<Record<string, "mine" | "theirs">>;

/** Merge is the merged text, the splices that lead to it from theirs, all conflicts and the tasks of ours that came in. */
export interface Merge {
  readonly text: string;
  readonly splices: readonly Splice[];
  readonly conflicts: readonly Conflict[];
  readonly open: number;
  readonly changed: readonly string[];
}

interface Assign {
  readonly key: string;
  readonly value: Value | undefined;
}

/** merge merges mine into theirs. Tasks are told apart by name: a rename is a removal and an addition. */
export function merge(versions: { base: Good; mine: Good; theirs: Good }, choices: Choices = {}): Merge {
  const run = new Run(versions, choices);
  const tops = run.fields(undefined, topOf(versions.base), topOf(versions.mine), topOf(versions.theirs));
  let here = apply(versions.theirs, undefined, tops);
  let before: string | undefined;
  const changed: string[] = [];
  const order = new Set([...versions.mine.model.tasks, ...versions.base.model.tasks].map((t) => t.name));
  for (const name of order) {
    const next = mergeTask(run, here, name, before);
    if (next !== here) changed.push(name);
    here = next;
    if (here.model.tasks.some((t) => t.name === name)) before = name;
  }
  const open = run.conflicts.filter((c) => choices[c.id] === undefined).length;
  return { text: here.text, splices: differ(versions.theirs.text, here.text), conflicts: run.conflicts, open, changed };
}

function mergeTask(run: Run, here: Good, name: string, before: string | undefined): Good {
  const [base, mine, theirs] = [fieldsOf(run.of.base, name), fieldsOf(run.of.mine, name), fieldsOf(run.of.theirs, name)];
  if (same(mine, theirs) && !same(sourceOf(run.of.mine, name), sourceOf(run.of.base, name))) {
    return same(sourceOf(run.of.base, name), sourceOf(run.of.theirs, name)) ? takeSource(here, run.of.mine, name) : here;
  }
  if (same(mine, base) || same(mine, theirs)) return here;
  if (!mine || !theirs) return wholeTask(run, here, { name, base, mine, theirs, before });
  if (base && same(sourceOf(run.of.base, name), sourceOf(run.of.theirs, name))) return takeSource(here, run.of.mine, name);
  return apply(here, name, run.fields(name, base ?? {}, mine, theirs));
}

interface Whole {
  readonly name: string;
  readonly base: Fields | undefined;
  readonly mine: Fields | undefined;
  readonly theirs: Fields | undefined;
  readonly before: string | undefined;
}

// One side has the task and the other has not.
function wholeTask(run: Run, here: Good, t: Whole): Good {
  const clean = t.mine ? !t.base : same(t.base, t.theirs);
  if (!clean && !run.conflict({ task: t.name, field: undefined, base: t.base, mine: t.mine, theirs: t.theirs })) return here;
  if (t.mine) return addFrom(here, run.of.mine, t.name, t.before);
  const index = here.model.tasks.findIndex((x) => x.name === t.name);
  if (!here.root || index < 0) return here;
  return step(here, removeIn(here, here.root, ["tasks", index]));
}

class Run {
  readonly conflicts: Conflict[] = [];

  constructor(
    readonly of: { readonly base: Good; readonly mine: Good; readonly theirs: Good },
    private readonly choices: Choices,
  ) {}

  /** conflict lists a conflict and tells whether mine was chosen. */
  conflict(c: Omit<Conflict, "id">): boolean {
    const id = `${c.task === undefined ? "workflow" : `task ${c.task}`} ${c.field ?? "*"}`;
    this.conflicts.push({ ...c, id });
    return this.choices[id] === "mine";
  }

  /** fields returns what is to be set in theirs. */
  fields(task: string | undefined, base: Fields, mine: Fields, theirs: Fields): Assign[] {
    const keys = new Set([...Object.keys(mine), ...Object.keys(base)]);
    return [...keys].flatMap((key): Assign[] => {
      const [b, m, t] = [own(base, key), own(mine, key), own(theirs, key)];
      if (same(m, b) || same(m, t)) return [];
      if (same(b, t)) return [{ key, value: m }];
      const both = key === "needs" ? union(b, m, t) : undefined;
      if (both) return [{ key, value: both.length > 0 ? both : undefined }];
      return this.conflict({ task, field: key, base: b, mine: m, theirs: t }) ? [{ key, value: m }] : [];
    });
  }
}

// Needs are a set: additions and removals of both sides go together.
function union(base: Value | undefined, mine: Value | undefined, theirs: Value | undefined): string[] | undefined {
  const [b, m, t] = [base, mine, theirs].map((v) => (v === undefined || v === null ? [] : Array.isArray(v) ? v.map(String) : undefined));
  if (!b || !m || !t) return undefined;
  const kept = t.filter((n) => m.includes(n) || !b.includes(n));
  return [...kept, ...m.filter((n) => !b.includes(n) && !t.includes(n))];
}

// The workflow's own fields; params one by one, as two people add two of them.
function topOf(good: Good): Fields {
  const out: Record<string, Value> = {};
  for (const [key, value] of Object.entries(good.model.fields)) {
    if (key !== "params" || !isFields(value)) out[key] = value;
    else for (const [name, param] of Object.entries(value)) out[`params.${name}`] = param;
  }
  return out;
}

function apply(good: Good, task: string | undefined, sets: readonly Assign[]): Good {
  let here = good;
  for (const { key, value } of sets) {
    const index = task === undefined ? -1 : here.model.tasks.findIndex((t) => t.name === task);
    const inner = task === undefined && key.startsWith("params.") ? ["params", key.slice("params.".length)] : [key];
    const path = task === undefined ? inner : ["tasks", index, ...inner];
    const splices = value === undefined ? here.root && removeIn(here, here.root, path) : setIn(here, here.root, path, value);
    here = step(here, splices ?? []);
  }
  return here;
}

function step(here: Good, splices: readonly Splice[]): Good {
  if (splices.length === 0) return here;
  const next = reread(here, splices);
  if (!next.good) throw new Error(`a merge step broke the text at line ${next.errors[0]?.line}`);
  return next;
}

function nodeOf(good: Good, name: string): { index: number; node: MapNode } | undefined {
  const index = good.model.tasks.findIndex((t) => t.name === name);
  const node = tasksOf(good.root)?.items[index]?.value;
  return node?.kind === "map" ? { index, node } : undefined;
}

function fieldsOf(good: Good, name: string): Fields | undefined {
  return good.model.tasks.find((t) => t.name === name)?.fields;
}

function own(fields: Fields, key: string): Value | undefined {
  return Object.hasOwn(fields, key) ? fields[key] : undefined;
}

// A task's own lines, comments included.
function sourceOf(good: Good, name: string): string | undefined {
  const list = tasksOf(good.root);
  const index = good.model.tasks.findIndex((t) => t.name === name);
  return list ? itemLines(good, list, list.items[index])[0] : undefined;
}

// Where their task is as it was, ours comes in with its comments.
function takeSource(here: Good, mine: Good, name: string): Good {
  const list = tasksOf(here.root);
  const found = nodeOf(here, name);
  const item = found && list?.items[found.index];
  const source = sourceOf(mine, name);
  const fields = fieldsOf(mine, name);
  if (!list || !item || source === undefined || !fields) return here;
  const column = columnOf(here.text, item.dash);
  if (list.flow)
    return step(here, [{ from: item.value.from, to: item.value.to, insert: itemText(fields, column, { ...here.style, json: true }) }]);
  const old = itemLines(here, list, item)[0];
  if (old === undefined) return here;
  const to = item.dash + shift(old, column, here.style.newline).length;
  return step(here, [{ from: item.dash, to, insert: shift(source, column, here.style.newline) }]);
}

function addFrom(here: Good, mine: Good, name: string, before: string | undefined): Good {
  const source = sourceOf(mine, name);
  const fields = fieldsOf(mine, name);
  if (source === undefined || !fields) return here;
  const after = before === undefined ? undefined : nodeOf(here, before)?.index;
  const list = tasksOf(here.root);
  const item = list?.items.at(after ?? -1);
  if (!list || list.flow || !item) return step(here, appendTask(here, fields, after));
  const column = columnOf(here.text, item.dash);
  const lines = " ".repeat(column) + shift(source, column, here.style.newline);
  return step(here, [linesAfter(here, Math.max(item.value.to, item.dash + 1), lines)]);
}

/** same compares values; the order of a map's keys does not count. */
export function same(a: Value | undefined, b: Value | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((v, i) => same(v, b[i]));
  }
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([k, v]) => right.has(k) && same(v, right.get(k)));
}
