// The branches of a switch or conditions task: the lists of names in `then` of its cases, and in
// `else`. They stand under these keys whatever the task's type is: a type can be changed back.

import { isFields, type Task, word } from "./read";
import { removeItems, replaceEntry, replaceNode, type Source } from "./splice";
import type { Splice } from "./text";
import { type Entry, entryOf, type Fields, type ListNode, type MapNode, type Node, type Value } from "./tree";

/** Branch is where a list of names stands in the text. */
interface Branch {
  readonly owner: MapNode;
  readonly entry: Entry;
  readonly list: ListNode;
}

/** isBranches tells the entries of a task that hold branches. */
export function isBranches(entry: Entry): boolean {
  return entry.key === "cases" || entry.key === "else";
}

function branchLists(task: MapNode): Branch[] {
  const cases = entryOf(task, "cases")?.value;
  const ofCases = cases?.kind === "list" ? cases.items.flatMap(({ value }) => listIn(value, "then")) : [];
  return [...ofCases, ...listIn(task, "else")];
}

function listIn(owner: Node, key: string): Branch[] {
  const entry = entryOf(owner, key);
  return owner.kind === "map" && entry?.value.kind === "list" ? [{ owner, entry, list: entry.value }] : [];
}

/** renameInList gives a name in a list another one. */
export function renameInList(source: Source, list: ListNode, from: string, to: string): Splice[] {
  return list.items.flatMap(({ value }) =>
    value.kind === "scalar" && value.value === from ? replaceNode(source, value, to, list.flow) : [],
  );
}

/** renameInBranches gives a name in the branches of a task's map another one. */
export function renameInBranches(source: Source, task: MapNode, from: string, to: string): Splice[] {
  return branchLists(task).flatMap(({ list }) => renameInList(source, list, from, to));
}

/** dropFromBranches takes names out of the branches of a task's map. A branch that is left with none stays, and chooses nothing. */
export function dropFromBranches(source: Source, task: MapNode, gone: ReadonlySet<string>): Splice[] {
  return branchLists(task).flatMap(({ owner, entry, list }) => {
    const indices = list.items.flatMap((item, i) => (item.value.kind === "scalar" && gone.has(String(item.value.value)) ? [i] : []));
    if (indices.length === 0) return [];
    return indices.length === list.items.length ? replaceEntry(source, owner, entry, []) : removeItems(source, list, indices);
  });
}

/** Case is a branch as it stands in the text: its condition, and the tasks that run then. */
export interface Case {
  readonly when: string;
  readonly then: readonly string[];
}

/** casesOf returns the cases of a task; what has another shape is an empty one, so that each keeps its number. */
export function casesOf({ fields }: Pick<Task, "fields">): Case[] {
  return listOf(fields.cases).map((one) => {
    const own = isFields(one) ? one : {};
    return { when: word(own.when), then: namesIn(own.then) };
  });
}

/** elseOf returns the tasks that run where no case holds, or undefined where nothing is said. */
export function elseOf({ fields }: Pick<Task, "fields">): string[] | undefined {
  return Array.isArray(fields.else) ? namesIn(fields.else) : undefined;
}

/** BranchKey is a branch that an edge leads out of: a case by its index, else, or "any" where it leads on in any case. */
export type BranchKey = number | "else" | "any";

/** isBranching tells whether the edges out of a task may lead into branches. */
export function isBranching({ type }: Pick<Task, "type">): boolean {
  return type === "switch" || type === "conditions";
}

/** branchesTo tells in which branches of a task another one stands; "any" where in none. */
export function branchesTo(task: Pick<Task, "fields">, to: string): BranchKey[] {
  const cases = casesOf(task).flatMap(({ then }, i): BranchKey[] => (then.includes(to) ? [i] : []));
  const all: BranchKey[] = elseOf(task)?.includes(to) ? [...cases, "else"] : cases;
  return all.length > 0 ? all : ["any"];
}

/** branchNames returns all tasks that stand in a branch of a task. */
export function branchNames(task: Pick<Task, "fields">): string[] {
  return [...casesOf(task).flatMap((c) => c.then), ...(elseOf(task) ?? [])];
}

/** keepInBranches returns fields whose branches name only tasks that stay. */
export function keepInBranches(fields: Fields, stays: (name: Value) => boolean): Fields {
  const kept = (list: Value | undefined) => listOf(list).filter(stays);
  const cases = (one: Value) => (isFields(one) && Array.isArray(one.then) ? { ...one, then: kept(one.then) } : one);
  return {
    ...fields,
    ...(Array.isArray(fields.cases) && { cases: fields.cases.map(cases) }),
    ...(Array.isArray(fields.else) && { else: kept(fields.else) }),
  };
}

function listOf(value: Value | undefined): readonly Value[] {
  return isList(value) ? value : [];
}

function isList(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value);
}

function namesIn(value: Value | undefined): string[] {
  return listOf(value).map(word);
}
