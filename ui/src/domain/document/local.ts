// What is wrong with a workflow, as far as the page can tell by itself and at once: the server's
// codes at the server's fields, so that its answer takes the place of ours without a flicker. It
// never finds what the server would not: a golden list of the server's answers is its test.

import { circle, groups } from "./circles";
import type { Good, Reading } from "./read";
import { tasksOf } from "./read";
import { isSchema, type Schema, Shapes } from "./shape";
import { badName, foldName } from "./tasks";
import { entryOf, type MapNode, type Node } from "./tree";
import type { Finding } from "./validate";

/** Forms are the schemas of the workflow and of each task type, as GET /task-types answers. */
export interface Forms {
  readonly items: readonly { readonly type: string; readonly schema: unknown }[];
  readonly workflow: { readonly schema: unknown };
}

// More than a person reads; the server stops there too.
const maxFindings = 100;

/** localFindings finds what is wrong in a text that parses. Without forms, only names and needs are looked at. */
export function localFindings(reading: Reading, forms?: Forms): readonly Finding[] {
  if (!reading.good || !reading.root) return [];
  const found = [...(forms ? shapes(reading, reading.root, forms) : []), ...names(reading, reading.root), ...graph(reading)];
  const wrong = new Set<string>();
  return found
    .filter((f) => {
      // What could not be read is not looked at a second time.
      if (within(wrong, f.field)) return false;
      wrong.add(f.field);
      return true;
    })
    .slice(0, maxFindings);
}

function within(wrong: ReadonlySet<string>, field: string): boolean {
  for (let at = field; at !== ""; at = at.slice(0, Math.max(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("["))))) {
    if (wrong.has(at)) return true;
  }
  return false;
}

function shapes(good: Good, root: MapNode, forms: Forms): Finding[] {
  const own = isSchema(forms.workflow.schema) ? forms.workflow.schema : {};
  const all = new Shapes(good, own);
  all.map(root, { ...own, properties: { ...(isSchema(own.properties) ? own.properties : {}), tasks: {} } }, []);
  const findings = [...all.findings];
  const tasks = entryOf(root, "tasks");
  if (!tasks) findings.push({ field: "tasks", code: "required", message: "" });
  const list = tasksOf(good.root);
  if (list?.items.length === 0) findings.push({ field: "tasks", code: "out_of_range", message: "" });
  const types = new Map(forms.items.map((i) => [i.type, isSchema(i.schema) ? i.schema : {}]));
  for (const [i, item] of (list?.items ?? []).entries()) {
    if (findings.length > 10 * maxFindings) break;
    findings.push(...task(good, item.value, i, types));
  }
  return findings;
}

function task(good: Good, node: Node, index: number, types: ReadonlyMap<string, Schema>): readonly Finding[] {
  const path = ["tasks", index];
  const at = `tasks[${index}]`;
  if (node.kind !== "map") return [{ field: at, code: node.kind === "scalar" && node.value === null ? "null" : "wrong_type", message: "" }];
  const type = entryOf(node, "type")?.value;
  const known = type?.kind === "scalar" && typeof type.value === "string" ? types.get(type.value) : undefined;
  if (known) {
    const one = new Shapes(good, known);
    one.map(node, known, path);
    return one.findings;
  }
  // Which keys there may be depends on the type: only what all tasks have is looked at.
  const any: Schema = types.values().next().value ?? {};
  const one = new Shapes(good, any);
  const properties = isSchema(any.properties) ? any.properties : {};
  const { name, needs } = properties;
  one.map(node, { properties: { name, needs }, required: type ? ["name"] : ["name", "type"] }, path, true);
  if (type?.kind === "scalar" && typeof type.value === "string" && types.size > 0) {
    one.findings.push({ field: `${at}.type`, code: "unknown_type", message: "", value: type.value, args: { known: [...types.keys()] } });
  }
  return one.findings;
}

function names(good: Good, root: MapNode): Finding[] {
  const check = (node: Node | undefined, field: string): Finding[] => {
    if (node?.kind !== "scalar" || typeof node.value !== "string") return [];
    const code = badName(node.value);
    return code ? [{ field, code, message: "", value: node.value.slice(0, 64) }] : [];
  };
  const tasks = (tasksOf(good.root)?.items ?? []).flatMap((item, i) => check(entryOf(item.value, "name")?.value, `tasks[${i}].name`));
  return [...check(entryOf(root, "name")?.value, "name"), ...tasks];
}

interface Named {
  readonly name: string;
  /** needs keeps the places of what is no text, as undefined. */
  readonly needs: readonly (string | undefined)[];
}

function named(node: Node): Named {
  const name = entryOf(node, "name")?.value;
  const needs = entryOf(node, "needs")?.value;
  const word = (n: Node | undefined) => (n?.kind === "scalar" && typeof n.value === "string" ? n.value : undefined);
  return { name: word(name) ?? "", needs: needs?.kind === "list" ? needs.items.map((i) => word(i.value)) : [] };
}

function graph(good: Good): Finding[] {
  const tasks = (tasksOf(good.root)?.items ?? []).map((item) => named(item.value));
  const out: Finding[] = [];
  const index = new Map<string, number>();
  const folded = new Map<string, number>();
  for (const [i, { name }] of tasks.entries()) {
    if (name === "") continue;
    const first = folded.get(foldName(name));
    if (first === undefined) folded.set(foldName(name), i);
    else {
      out.push({ field: `tasks[${i}].name`, code: "duplicate_name", message: "", value: name });
      out.push({ field: `tasks[${first}].name`, code: "duplicate_name", message: "", value: tasks[first]?.name ?? name });
    }
    if (!index.has(name)) index.set(name, i);
  }
  const pred = tasks.map(({ needs }, i) => edges(i, needs, index, out));
  for (const group of groups(pred)) out.push(cycle(tasks, pred, group, index));
  return out;
}

function edges(i: number, needs: Named["needs"], index: ReadonlyMap<string, number>, out: Finding[]): number[] {
  const seen = new Set<number>();
  for (const [k, need] of needs.entries()) {
    if (need === undefined) continue;
    const n = index.get(need);
    const code = n === undefined ? "unknown_task" : n === i ? "self_loop" : seen.has(n) ? "duplicate_edge" : undefined;
    if (code) out.push({ field: `tasks[${i}].needs[${k}]`, code, message: "", value: need });
    else if (n !== undefined) seen.add(n);
  }
  return [...seen];
}

function cycle(
  tasks: readonly Named[],
  pred: readonly (readonly number[])[],
  group: readonly number[],
  index: ReadonlyMap<string, number>,
): Finding {
  const path = circle(pred, group);
  const first = path[0] ?? 0;
  const second = path.at(-2) ?? first;
  const k = (tasks[first]?.needs ?? []).findIndex((need) => need !== undefined && index.get(need) === second);
  return {
    field: `tasks[${first}].needs[${Math.max(0, k)}]`,
    code: "cycle",
    message: "",
    value: tasks[first]?.name ?? "",
    args: { tasks: [...path].reverse().map((t) => tasks[t]?.name ?? "") },
  };
}

/** Checked is what the server found, the reading that it was found in, and what the page found there. */
export interface Checked {
  readonly reading: Reading;
  readonly findings: readonly Finding[];
  readonly local: readonly Finding[];
}

const keyOf = (f: Finding) => `${f.field} ${f.code}`;

/**
 * joined makes one list of the page's findings and the server's. Those of an older text follow their
 * tasks until the server has looked again; what the page found too, it decides anew by itself.
 */
export function joined(reading: Reading, local: readonly Finding[], served: Checked | undefined): readonly Finding[] {
  if (!served || served.findings.length === 0) return local;
  const fresh = served.reading.text === reading.text;
  const theirs = fresh ? served.findings : moved(reading, served);
  const known = new Set(theirs.map(keyOf));
  return [...theirs, ...local.filter((f) => !known.has(keyOf(f)))];
}

function moved(reading: Reading, { reading: old, findings, local }: Checked): Finding[] {
  // A text that did not parse has one mistake, which hides all others.
  if (!old.good) return [];
  const ours = new Set(local.map(keyOf));
  const now = new Map(reading.model.tasks.map((t) => [t.name, t.index]));
  return findings.flatMap((f) => {
    if (ours.has(keyOf(f))) return [];
    const found = /^tasks\[(\d+)\](.*)$/s.exec(f.field);
    if (!found) return [f];
    const index = now.get(old.model.tasks[Number(found[1])]?.name ?? "");
    return index === undefined ? [] : [{ ...f, field: `tasks[${index}]${found[2] ?? ""}` }];
  });
}
