// Edits of tasks and edges. Each answers with splices of the text that was read, or with a refusal.

import { findPath } from "../graph/model";
import { dropFromBranches, renameInBranches } from "./branches";
import { done, type Edit, onGood, refuse, setIn } from "./edit";
import { itemText } from "./format";
import { addNeed, dropNeeds, dropTasks } from "./needs";
import { type Good, type Reading, type Task, tasksOf } from "./read";
import { renameIn } from "./reference";
import { columnOf, endOf, insertItem, linesAfter, removeItems, replaceEntry, replaceNode } from "./splice";
import { contentEnd, type Splice } from "./text";
import { entryOf, type Fields, type ListNode, type MapNode, type Value } from "./tree";

/** foldName is the form in which names are compared. */
export function foldName(name: string): string {
  return name.normalize("NFC").toLowerCase();
}

/** badName tells what is wrong with a name, by the server's rule; undefined is a good name. */
export function badName(name: string): "required" | "too_large" | "invalid_name" | undefined {
  if (name.trim() === "") return "required";
  if ([...name].length > 128) return "too_large";
  const fits = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_. -]*$/u.test(name) && !name.endsWith(" ") && name.normalize("NFC") === name;
  return fits ? undefined : "invalid_name";
}

/** freeName returns name, or name_2, name_3 ... where it is taken. taken holds folded names. */
export function freeName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(foldName(name))) return name;
  const stem = name.replace(/_\d+$/, "");
  for (let n = 2; ; n++) {
    const tail = `_${n}`;
    const candidate = [...stem].slice(0, 128 - tail.length).join("") + tail;
    if (!taken.has(foldName(candidate))) return candidate;
  }
}

/** namesOf returns the folded names of all tasks. */
export function namesOf(tasks: readonly Task[]): Set<string> {
  return new Set(tasks.map((t) => foldName(t.name)));
}

/** taskNode returns the map of the task of this name, with its index. */
export function taskNode(good: Good, name: string): { node: MapNode; index: number } | undefined {
  const index = good.model.tasks.findIndex((t) => t.name === name);
  const node = index < 0 ? undefined : tasksOf(good.root)?.items[index]?.value;
  return node?.kind === "map" ? { node, index } : undefined;
}

/** setTaskField sets a field of a task, such as ["retry", "times"]. A new name goes through renameTask. */
export function setTaskField(reading: Reading, task: string, path: readonly (string | number)[], value: Value): Edit {
  if (path.length === 1 && path[0] === "name" && typeof value === "string") return renameTask(reading, task, value);
  return onGood(reading, (good) => {
    const found = taskNode(good, task);
    if (!found) return refuse("no_such_task", { task });
    const splices = setIn(good, found.node, path, value);
    return splices ? done(splices) : refuse("no_such_field", { field: path.join(".") });
  });
}

/** renameTask gives a task another name and lets the needs, branches, conditions and ${task.output} references of all others follow. */
export function renameTask(reading: Reading, from: string, to: string): Edit {
  return onGood(reading, (good) => {
    const found = taskNode(good, from);
    if (!found) return refuse("no_such_task", { task: from });
    if (from === to) return done([]);
    if (badName(to)) return refuse("invalid_name", { name: to });
    const clash = good.model.tasks.find((t, i) => i !== found.index && foldName(t.name) === foldName(to));
    if (clash) return refuse("name_taken", { name: clash.name });
    return done(renameIn(good, found.index, from, to));
  });
}

/** addTask adds a task behind the named one, else at the end. A taken name gets a number: see freeName. */
export function addTask(reading: Reading, fields: Fields, after?: string): Edit {
  return onGood(reading, (good) => {
    const wanted = typeof fields.name === "string" && fields.name !== "" ? fields.name : "task";
    if (badName(wanted)) return refuse("invalid_name", { name: wanted });
    const name = freeName(wanted, namesOf(good.model.tasks));
    return done(appendTask(good, { ...fields, name }, after === undefined ? undefined : taskNode(good, after)?.index));
  });
}

/** appendTask returns the splices that add a task behind the one at index after, else at the end, in the file's own style. */
export function appendTask(good: Good, value: Fields, after: number | undefined): Splice[] {
  const entry = entryOf(good.root, "tasks");
  if (!good.root || !entry || good.style.json) {
    const list = entry?.value.kind === "list" ? entry.value : undefined;
    if (list && list.items.length > 0) return insertItem(good, list, value, after);
    return setIn(good, good.root, ["tasks"], [value]) ?? [];
  }
  const list = entry.value;
  if (list.kind === "list" && (list.flow ? list.items.length > 0 : true)) {
    const style = list.items.at(after ?? -1)?.value;
    if (style?.kind !== "scalar") return spaced(good, list, insertItem(good, list, value, after));
  }
  return [...emptied(entry.colon + 1, list), firstTask(good, endOf(entry), value)];
}

function emptied(from: number, list: { from: number; to: number }): Splice[] {
  return list.from === list.to ? [] : [{ from, to: list.to, insert: "" }];
}

function firstTask(good: Good, at: number, value: Fields): Splice {
  const column = columnOf(good.text, good.root?.from ?? 0) + 2;
  return linesAfter(good, at, `${" ".repeat(column)}- ${itemText(value, column, good.style)}`);
}

/** parted tells whether tasks of a list have blank lines between them. */
export function parted(good: Good, list: ListNode): boolean {
  const [a, b] = list.items.slice(-2);
  return a !== undefined && b !== undefined && /\n[ \t]*\r?\n/.test(good.text.slice(contentEnd(good.text, a.value.to), b.dash));
}

function spaced(good: Good, list: ListNode, splices: readonly Splice[]): Splice[] {
  if (list.flow || !parted(good, list)) return [...splices];
  return splices.map((s) => ({ ...s, insert: good.style.newline + s.insert }));
}

/** deleteTasks removes tasks, and their names from the needs and the branches of those that stay. */
export function deleteTasks(reading: Reading, names: readonly string[]): Edit {
  return onGood(reading, (good) => {
    const list = tasksOf(good.root);
    const entry = entryOf(good.root, "tasks");
    const gone = new Set(names);
    const indices = good.model.tasks.filter((t) => gone.has(t.name)).map((t) => t.index);
    if (!list || !entry || indices.length === 0) return done([]);
    const staying = good.model.tasks.filter((t) => !gone.has(t.name));
    const named = staying.flatMap((t) => {
      const node = list.items[t.index]?.value;
      return node?.kind === "map" ? dropTasks(good, node, gone) : [];
    });
    if (staying.length > 0) return done([...removeItems(good, list, indices), ...named]);
    return done([{ from: entry.colon + 1, to: list.to, insert: " []" }]);
  });
}

/** addEdge lets to need from. */
export function addEdge(reading: Reading, from: string, to: string): Edit {
  return onGood(reading, (good) => {
    const wrong = badEdge(good, from, to);
    if (wrong) return wrong;
    const found = taskNode(good, to);
    return found ? done(addNeed(good, found.node, from)) : refuse("no_such_task", { task: to });
  });
}

/** badEdge tells why an edge cannot be drawn: unknown ends, itself, a second one, or a cycle with its path. */
export function badEdge(good: Good, from: string, to: string): Edit | undefined {
  if (!taskNode(good, from)) return refuse("no_such_task", { task: from });
  const target = good.model.tasks.find((t) => t.name === to);
  if (!target) return refuse("no_such_task", { task: to });
  if (from === to) return refuse("self_edge", { task: from });
  if (target.needs.includes(from)) return refuse("edge_exists", { from, to });
  const path = findPath(good.model.tasks, to, from);
  return path && refuse("cycle", { path: [...path, to].join(" → ") });
}

// Where an edge out of a branch goes, its branch goes with it: only tasks that need a task can stand in its branches.
function followBranch(good: Good, from: string, to: string, next?: string): Splice[] {
  const source = taskNode(good, from)?.node;
  if (!source) return [];
  return next === undefined ? dropFromBranches(good, source, new Set([to])) : renameInBranches(good, source, to, next);
}

/** removeEdge lets to no longer need from. */
export function removeEdge(reading: Reading, from: string, to: string): Edit {
  return onGood(reading, (good) => {
    const found = taskNode(good, to);
    if (!found) return refuse("no_such_task", { task: to });
    const splices = dropNeeds(good, found.node, new Set([from]));
    return splices.length > 0 ? done([...splices, ...followBranch(good, from, to)]) : refuse("no_such_edge", { from, to });
  });
}

/** leaveBranches takes to out of all branches of from; the edge between them stays. */
export function leaveBranches(reading: Reading, from: string, to: string): Edit {
  return onGood(reading, (good) => done(followBranch(good, from, to)));
}

/** insertOnEdge adds a task between two: it needs from, and to needs it in from's place. */
export function insertOnEdge(reading: Reading, from: string, to: string, fields: Fields): Edit {
  return onGood(reading, (good) => {
    const target = taskNode(good, to);
    const source = taskNode(good, from);
    const needs = entryOf(target?.node, "needs")?.value;
    const at = needs?.kind === "list" ? needs.items.find((i) => i.value.kind === "scalar" && i.value.value === from) : undefined;
    if (!target || !source || needs?.kind !== "list" || !at) return refuse("no_such_edge", { from, to });
    const { name: asked, type = "noop", needs: _, ...rest } = fields;
    const name = freeName(typeof asked === "string" && asked !== "" ? asked : "task", namesOf(good.model.tasks));
    if (badName(name)) return refuse("invalid_name", { name });
    const added = appendTask(good, { name, type, needs: [from], ...rest }, source.index);
    return done([...added, ...replaceNode(good, at.value, name, needs.flow), ...followBranch(good, from, to, name)]);
  });
}

/** moveEdge lets an edge end at another task: the end that is not given stays. */
export function moveEdge(reading: Reading, edge: { from: string; to: string }, end: { from?: string; to?: string }): Edit {
  return onGood(reading, (good) => {
    const [from, to] = [end.from ?? edge.from, end.to ?? edge.to];
    const old = taskNode(good, edge.to);
    const next = taskNode(good, to);
    if (!old || !next) return refuse("no_such_task", { task: to });
    const tasks = good.model.tasks.map((t) => (t.name === edge.to ? { ...t, needs: t.needs.filter((n) => n !== edge.from) } : t));
    const wrong = badEdge({ ...good, model: { ...good.model, tasks } }, from, to);
    if (wrong) return wrong;
    const needs = entryOf(old.node, "needs");
    if (old.index !== next.index) {
      const branch = from === edge.from ? followBranch(good, from, edge.to, to) : followBranch(good, edge.from, edge.to);
      return done([...dropNeeds(good, old.node, new Set([edge.from])), ...addNeed(good, next.node, from), ...branch]);
    }
    const at =
      needs?.value.kind === "list" ? needs.value.items.find((i) => i.value.kind === "scalar" && i.value.value === edge.from) : undefined;
    if (needs?.value.kind !== "list" || !at) return refuse("no_such_edge", edge);
    // A task that comes between takes the place in the branch.
    const between = good.model.tasks.find((t) => t.name === from)?.needs.includes(edge.from);
    const branch = followBranch(good, edge.from, to, between ? from : undefined);
    return done([...replaceNode(good, at.value, from, needs.value.flow), ...branch]);
  });
}

/** setNeeds makes a task need exactly these, each once, keeping the lines of those that stay. */
export function setNeeds(reading: Reading, task: string, wanted: readonly string[]): Edit {
  const names = [...new Set(wanted)];
  return onGood(reading, (good) => {
    const found = taskNode(good, task);
    if (!found) return refuse("no_such_task", { task });
    const old = good.model.tasks[found.index]?.needs ?? [];
    const gone = new Set(old.filter((n) => !names.includes(n)));
    return done([...needsSet(good, found.node, { old, gone, names }), ...[...gone].flatMap((n) => followBranch(good, n, task))]);
  });
}

interface Needs {
  readonly old: readonly string[];
  readonly gone: ReadonlySet<string>;
  readonly names: readonly string[];
}

function needsSet(good: Good, node: MapNode, { old, gone, names }: Needs): Splice[] {
  const entry = entryOf(node, "needs");
  const fresh = names.filter((n) => !old.includes(n));
  if (entry && new Set(old).size < old.length)
    return names.length > 0 ? replaceEntry(good, node, entry, names) : dropNeeds(good, node, gone);
  if (fresh.length === 0) return dropNeeds(good, node, gone);
  if (gone.size === 0 && fresh[0] !== undefined && fresh.length === 1) return addNeed(good, node, fresh[0]);
  if (!entry) return setIn(good, node, ["needs"], [...names]) ?? [];
  return replaceEntry(good, node, entry, [...names]);
}
