// Where a task's name stands besides its own: needs, branches, conditions, and ${task.output} in
// texts that are not scripts.

import { isBranches, renameInBranches, renameInList } from "./branches";
import { referencesTo, renameInExpression } from "./expression";
import { type Good, tasksOf } from "./read";
import { replaceEntry, replaceNode } from "./splice";
import type { Splice } from "./text";
import type { Entry, MapNode, Node } from "./tree";

/** conditionKeys are the keys whose texts are expressions: of a task, and of a case. */
const conditionKeys: ReadonlySet<string> = new Set(["when", "join"]);

/** renameIn returns the splices that give the task at index another name everywhere. */
export function renameIn(good: Good, index: number, from: string, to: string): Splice[] {
  const list = tasksOf(good.root);
  const out: Splice[] = [];
  list?.items.forEach((item, i) => {
    const task = item.value;
    if (task.kind !== "map") return;
    out.push(...renameInBranches(good, task, from, to));
    for (const entry of task.entries) {
      if (entry.key === "name") {
        if (i === index) out.push(...replaceNode(good, entry.value, to, task.flow));
      } else if (entry.key === "needs") out.push(...(entry.value.kind === "list" ? renameInList(good, entry.value, from, to) : []));
      else if (conditionKeys.has(entry.key)) out.push(...condition(good, task, entry, from, to));
      else if (isBranches(entry)) out.push(...conditionsOfCases(good, entry.value, from, to));
      else if (entry.key !== "script") out.push(...referencesIn(good.text, entry.value, from, to));
    }
  });
  return out;
}

function conditionsOfCases(good: Good, cases: Node, from: string, to: string): Splice[] {
  if (cases.kind !== "list") return [];
  return cases.items.flatMap(({ value: one }) => {
    if (one.kind !== "map") return [];
    return one.entries.flatMap((entry) => (conditionKeys.has(entry.key) ? condition(good, one, entry, from, to) : []));
  });
}

function condition(good: Good, map: MapNode, entry: Entry, from: string, to: string): Splice[] {
  const { value } = entry;
  if (value.kind !== "scalar" || typeof value.value !== "string") return [];
  const next = renameInExpression(value.value, from, to);
  return next === value.value ? [] : replaceEntry(good, map, entry, next);
}

function referencesIn(text: string, node: Node, from: string, to: string): Splice[] {
  switch (node.kind) {
    case "map":
      return node.entries.flatMap((e) => referencesIn(text, e.value, from, to));
    case "list":
      return node.items.flatMap((i) => referencesIn(text, i.value, from, to));
    case "scalar": {
      if (typeof node.value !== "string" || !node.value.includes("${")) return [];
      const places = referencesTo(text.slice(node.from, node.to), from).map((at) => node.from + at);
      return places.map((at) => ({ from: at, to: at + from.length, insert: to }));
    }
  }
}
