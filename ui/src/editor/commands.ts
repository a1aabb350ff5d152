// What a person does to a workflow, as the views call it: an edit of the text together with the
// places of the tasks it touches. Each answers whether it was done; the document says why not.

import type { BranchKey } from "../domain/document/branches";
import { copyTasks, pasteTasks } from "../domain/document/clipboard";
import { done, type Edit, refuse } from "../domain/document/edit";
import { indexOf, setFields } from "../domain/document/fields";
import type { Path } from "../domain/document/path";
import { type Reading, read, type Task } from "../domain/document/read";
import { reread } from "../domain/document/reread";
import {
  addEdge,
  addTask,
  deleteTasks,
  foldName,
  freeName,
  insertOnEdge,
  leaveBranches,
  moveEdge,
  namesOf,
  removeEdge,
  renameTask,
} from "../domain/document/tasks";
import { applySplices, differ, type Splice } from "../domain/document/text";
import type { Fields } from "../domain/document/tree";
import type { Moves, Place } from "../domain/history/history";
import type { Document } from "./document";
import { valueAt } from "./form/values";

/** Edge leads from the task that is done first to the one that needs it. */
export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** add adds a task, chosen afterwards; needs are those before it. It answers its name. */
export function add(doc: Document, fields: Fields, options: { at?: Place; after?: string } = {}): string | undefined {
  const wanted = typeof fields.name === "string" && fields.name !== "" ? fields.name : "task";
  const name = freeName(wanted, namesOf(doc.current().model.tasks));
  const moves: Moves = options.at ? { [name]: options.at } : {};
  const ok = doc.edit("add", (r) => addTask(r, { ...fields, name }, options.after), { moves, tasks: [name] });
  return ok ? name : undefined;
}

/** insert adds a task on an edge, and answers its name; room is how others make way for it. */
export function insert(doc: Document, edge: Edge, fields: Fields, at?: Place, room: Moves = {}): string | undefined {
  const wanted = typeof fields.name === "string" && fields.name !== "" ? fields.name : "task";
  const name = freeName(wanted, namesOf(doc.current().model.tasks));
  const options = { moves: { ...room, ...(at && { [name]: at }) }, tasks: [name] };
  return doc.edit("insert", (r) => insertOnEdge(r, edge.from, edge.to, { ...fields, name }), options) ? name : undefined;
}

/** remove takes tasks away, with their places. */
export function remove(doc: Document, names: readonly string[]): boolean {
  const moves: Moves = Object.fromEntries(names.map((n) => [n, undefined]));
  return doc.edit("remove", (r) => deleteTasks(r, names), { moves, tasks: [] });
}

/** rename gives a task another name; its place and the choice go with it. */
export function rename(doc: Document, from: string, to: string): boolean {
  const { selection } = doc.state.history;
  const place = doc.placeOf(from);
  const moves: Moves = place ? { [from]: undefined, [to]: place } : {};
  const tasks = selection.tasks.map((n) => (n === from ? to : n));
  return doc.edit("rename", (r) => renameTask(r, from, to), { moves, tasks });
}

/** connect lets to need from. */
export function connect(doc: Document, from: string, to: string): boolean {
  return doc.edit("connect", (r) => addEdge(r, from, to));
}

/** disconnect lets each task no longer need the other end of its edge. */
export function disconnect(doc: Document, edges: readonly Edge[]): boolean {
  return doc.edit("disconnect", (reading) =>
    oneByOne(
      reading,
      edges.map((e) => (here: Reading) => removeEdge(here, e.from, e.to)),
    ),
  );
}

/** reconnect lets an edge begin or end at another task. */
export function reconnect(doc: Document, edge: Edge, end: Partial<Edge>): boolean {
  return doc.edit("reconnect", (r) => moveEdge(r, edge, end));
}

/** lead lets a branch lead to one more task, which needs this one from then on: one step. path is the branch in the task. */
export function lead(doc: Document, task: Task, path: Path, to: string): boolean {
  return doc.edit("branch", (reading) => {
    const own = reading.model.tasks[indexOf(reading, task)];
    const branch = own && valueAt(own.fields, path);
    const put = Array.isArray(branch)
      ? (r: Reading) => setFields(r, [task], [...path, branch.length], to)
      : (r: Reading) => setFields(r, [task], path, [to]);
    const needed = reading.model.tasks.find((t) => t.name === to)?.needs.includes(task.name);
    return oneByOne(reading, needed ? [put] : [put, (r) => addEdge(r, task.name, to)]);
  });
}

/** branch lets an edge lead out of this branch of its task alone, in one step with the edge itself where it is new. */
export function branch(doc: Document, { from, to }: Edge, key: BranchKey): boolean {
  return doc.edit("branch", (reading) => {
    const task = reading.model.tasks.find((t) => t.name === from);
    if (!task) return refuse("no_such_task", { task: from });
    const needed = reading.model.tasks.find((t) => t.name === to)?.needs.includes(from);
    const draw = needed ? [] : [(r: Reading) => addEdge(r, from, to)];
    const put = key === "any" ? [] : [(r: Reading) => enter(r, from, key === "else" ? ["else"] : ["cases", key, "then"], to)];
    return oneByOne(reading, [...draw, (r) => leaveBranches(r, from, to), ...put]);
  });
}

function enter(reading: Reading, from: string, path: Path, to: string): Edit {
  const task = reading.model.tasks.find((t) => t.name === from);
  if (!task) return refuse("no_such_task", { task: from });
  const there = valueAt(task.fields, path);
  return Array.isArray(there) ? setFields(reading, [task], [...path, there.length], to) : setFields(reading, [task], path, [to]);
}

/** thread puts a task that stands by itself on an edge: it needs from, and to needs it in from's place. */
export function thread(doc: Document, edge: Edge, task: string, moves: Moves = {}): boolean {
  const steps = [(r: Reading) => addEdge(r, edge.from, task), (r: Reading) => moveEdge(r, edge, { from: task })];
  return doc.edit("insert", (reading) => oneByOne(reading, steps), { moves, tasks: [task] });
}

// Several edits as one: each is made on what the one before has left.
function oneByOne(reading: Reading, steps: readonly ((here: Reading) => Edit)[]): Edit {
  let here = reading;
  for (const step of steps) {
    const one = step(here);
    if (!one.ok) return one;
    here = after(here, one.splices);
  }
  return reading.good ? done(differ(reading.text, here.text)) : refuse("broken_text");
}

function after(reading: Reading, splices: readonly Splice[]): Reading {
  return reading.good ? reread(reading, splices) : read(applySplices(reading.text, splices), reading);
}

/** move puts tasks at places; a drag or a run of arrow keys is one group. */
export function move(doc: Document, moves: Moves, group?: string): void {
  doc.change("move", [], { moves, group });
}

/** copy answers the chosen tasks as text for the clipboard. */
export function copy(doc: Document, names: readonly string[]): string {
  return copyTasks(doc.current(), names);
}

/** paste adds the tasks of a text, chosen afterwards, and answers their names; places says where they stand. */
export function paste(
  doc: Document,
  clip: string,
  options: { after?: string; places?: (tasks: readonly Task[]) => Moves } = {},
): readonly string[] {
  const before = doc.current();
  const pasted = pasteTasks(before, clip, options.after);
  const fresh = new Set(pasted.names);
  const tasks = pasted.ok && options.places ? after(before, pasted.splices).model.tasks.filter((t) => fresh.has(t.name)) : [];
  return doc.edit("paste", () => pasted, { moves: options.places?.(tasks), tasks: pasted.names }) ? pasted.names : [];
}

/** duplicate copies tasks beside themselves, by offset. */
export function duplicate(doc: Document, names: readonly string[], offset: Place): readonly string[] {
  const pasted = pasteTasks(doc.current(), copyTasks(doc.current(), names), names.at(-1));
  const moves: Record<string, Place> = {};
  const order = doc.current().model.tasks.filter((t) => names.includes(t.name));
  pasted.names.forEach((name, i) => {
    const place = doc.placeOf(order[i]?.name ?? "");
    if (place) moves[name] = { x: place.x + offset.x, y: place.y + offset.y };
  });
  return doc.edit("duplicate", () => pasted, { moves, tasks: pasted.names }) ? pasted.names : [];
}

/** taken tells whether a name is another task's, however it is spelled. */
export function taken(doc: Document, name: string, own: string): boolean {
  return foldName(name) !== foldName(own) && namesOf(doc.current().model.tasks).has(foldName(name));
}
