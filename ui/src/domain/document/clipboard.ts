// Tasks as YAML text on the clipboard, and back: across workflows, tabs and chats.

import { branchNames, keepInBranches } from "./branches";
import { done, type Edit, onGood, refuse } from "./edit";
import { itemText } from "./format";
import { dropTasks } from "./needs";
import { type Good, type Reading, read, tasksOf } from "./read";
import { renameIn } from "./reference";
import { columnOf, linesAfter } from "./splice";
import { appendTask, foldName, freeName, namesOf, parted } from "./tasks";
import { applySplices, contentEnd, differ, lineStart } from "./text";
import { contentOf, type Fields, type Item, type ListNode, type Value } from "./tree";

/** copyTasks returns the chosen tasks as a block list at column 0, with the edges and branches between them and their comments. */
export function copyTasks(reading: Reading, names: readonly string[]): string {
  if (!reading.good) return "";
  const chosen = new Set(names);
  const own = tasksIn(reading, (name) => chosen.has(name));
  return own.map((text) => `${text}\n`).join("");
}

// The chosen tasks' own lines, without needs and branches that lead to others.
function tasksIn(good: Good, chosen: (name: string) => boolean): string[] {
  const picked = good.model.tasks.filter((t) => chosen(t.name));
  const kept = new Set(picked.map((t) => t.name));
  const outer = picked.flatMap((t) => [...t.needs, ...branchNames(t)].filter((n) => !kept.has(n)));
  const gone = new Set(outer);
  const list = tasksOf(good.root);
  const splices = picked.flatMap((t) => {
    const node = list?.items[t.index]?.value;
    return node?.kind === "map" ? dropTasks(good, node, gone) : [];
  });
  const trimmed = splices.length === 0 ? good : read(applySplices(good.text, splices));
  if (!trimmed.good) return [];
  const items = tasksOf(trimmed.root);
  return items ? picked.flatMap((t) => itemLines(trimmed, items, items.items[t.index])) : [];
}

/** itemLines returns a list element's own text with its dash moved to column 0, or nothing where there is none. */
export function itemLines(good: Good, list: ListNode, item: Item | undefined): string[] {
  if (!item) return [];
  const value = contentOf(item.value);
  if (list.flow) return [`- ${itemText(value, 0, { newline: "\n", json: good.style.json })}`];
  const column = columnOf(good.text, item.dash);
  const text = good.text.slice(lineStart(good.text, item.dash) + column, contentEnd(good.text, Math.max(item.value.to, item.dash + 1)));
  return [shift(text, -column, "\n")];
}

/** shift moves all lines but the first by columns; blank ones stay. */
export function shift(text: string, columns: number, newline: string): string {
  return text
    .split(/\r?\n/)
    .map((line, i) => {
      if (i === 0 || line.trim() === "") return line;
      const indent = line.length - line.trimStart().length;
      return columns >= 0 ? " ".repeat(columns) + line : line.slice(Math.min(indent, -columns));
    })
    .join(newline);
}

/** Pasted is an edit with the names that the new tasks have got. */
export type Pasted = Edit & { readonly names: readonly string[] };

/**
 * pasteTasks adds the tasks of a text behind the named one, else at the end. The text is a list
 * of tasks, one task or a workflow. Names that are taken get a number, edges and references
 * inside the text follow, edges to tasks outside of it are dropped.
 */
export function pasteTasks(reading: Reading, clip: string, after?: string): Pasted {
  const copied = readClip(clip);
  const names: string[] = [];
  const edit = onGood(reading, (good) => {
    if (!copied || copied.model.tasks.length === 0) return refuse("nothing_to_paste");
    const renamed = renameAll(copied, namesOf(good.model.tasks), names);
    const texts = renamed && tasksIn(renamed, () => true);
    if (!renamed || !texts) return refuse("nothing_to_paste");
    const at = after === undefined ? -1 : good.model.tasks.findIndex((t) => t.name === after);
    return done(insertTasks(good, renamed, texts, at));
  });
  return { ...edit, names: edit.ok ? names : [] };
}

function readClip(clip: string): Good | undefined {
  for (const text of [clip, `tasks:\n${indented(clip)}`, `tasks:\n- ${shift(clip.trim(), 2, "\n")}`]) {
    const reading = read(text);
    if (reading.good && reading.model.tasks.some((t) => t.name !== "")) return reading;
  }
  return undefined;
}

function indented(clip: string): string {
  const first = clip.replace(/^(\s*\n)+/, "");
  return first
    .split(/\r?\n/)
    .map((line) => (line.trim() === "" ? "" : ` ${line}`))
    .join("\n");
}

// Names inside the text can clash with each other only if the text itself is wrong: each still gets its own.
function renameAll(copied: Good, taken: Set<string>, names: string[]): Good | undefined {
  let here = copied;
  const own = namesOf(copied.model.tasks);
  for (const task of copied.model.tasks) {
    const now = here.model.tasks[task.index];
    if (!now) return undefined;
    const name = freeName(now.name === "" ? "task" : now.name, taken.has(foldName(now.name)) ? new Set([...taken, ...own]) : taken);
    taken.add(foldName(name));
    names.push(name);
    if (name === now.name) continue;
    const next = read(applySplices(here.text, renameIn(here, task.index, now.name, name)));
    if (!next.good) return undefined;
    here = next;
  }
  return here;
}

function insertTasks(good: Good, copied: Good, texts: readonly string[], at: number) {
  const list = tasksOf(good.root);
  const last = list?.items.at(at);
  if (!list || list.flow || !last) {
    const values = copied.model.tasks.map((t) => t.fields);
    const first = values[0];
    return first ? insertValues(good, values, at) : [];
  }
  const column = columnOf(good.text, last.dash);
  const newline = good.style.newline;
  const gap = parted(good, list) ? newline : "";
  const lines = texts.map((t) => gap + " ".repeat(column) + shift(t, column, newline)).join(newline);
  return [linesAfter(good, Math.max(last.value.to, last.dash + 1), lines)];
}

// One at a time, as each takes its style from the one before; then all as one change.
function insertValues(good: Good, values: readonly Fields[], at: number) {
  let here = good;
  let index = at < 0 ? undefined : at;
  for (const value of values) {
    const list = tasksOf(here.root);
    const text = applySplices(here.text, appendTask(here, contentFor(value, values), index));
    const next = read(text);
    if (!next.good) return [];
    if (index !== undefined && list) index++;
    here = next;
  }
  return differ(good.text, here.text);
}

function contentFor(value: Fields, all: readonly Fields[]): Fields {
  const stays = (name: Value) => all.some((v) => v.name === name);
  const kept = keepInBranches(value, stays);
  if (!Array.isArray(value.needs)) return kept;
  const inner = value.needs.filter(stays);
  const { needs: _, ...rest } = kept;
  return inner.length > 0 ? { ...rest, needs: inner } : rest;
}
