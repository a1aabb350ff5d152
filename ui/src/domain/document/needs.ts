// The needs of one task as text.

import { dropFromBranches } from "./branches";
import { place } from "./edit";
import { insertEntry, insertItem, removeEntry, removeItems, replaceEntry, type Source } from "./splice";
import type { Splice } from "./text";
import { entryOf, type MapNode } from "./tree";

/** addNeed adds a name to the needs of a task's map. */
export function addNeed(source: Source, task: MapNode, name: string): Splice[] {
  const needs = entryOf(task, "needs");
  if (!needs) return insertEntry(source, task, "needs", [name], place(task, "needs"));
  if (needs.value.kind === "list") return insertItem(source, needs.value, name);
  return replaceEntry(source, task, needs, [name]);
}

/** dropNeeds takes names out of the needs of a task's map; the key goes with the last one. */
export function dropNeeds(source: Source, task: MapNode, gone: ReadonlySet<string>): Splice[] {
  const needs = entryOf(task, "needs")?.value;
  if (needs?.kind !== "list") return [];
  const indices = needs.items.flatMap((item, i) => (item.value.kind === "scalar" && gone.has(String(item.value.value)) ? [i] : []));
  if (indices.length === 0) return [];
  if (indices.length === needs.items.length && task.entries.length > 1) return removeEntry(source, task, "needs");
  return removeItems(source, needs, indices);
}

/** dropTasks takes tasks out of all that a task's map names: its needs and its branches. */
export function dropTasks(source: Source, task: MapNode, gone: ReadonlySet<string>): Splice[] {
  return [...dropNeeds(source, task, gone), ...dropFromBranches(source, task, gone)];
}
