// Where a task's name stands besides its own: needs, and ${task.output} in texts that are not scripts.

import { type Good, tasksOf } from "./read";
import { replaceNode } from "./splice";
import type { Splice } from "./text";
import { entryOf, type Node } from "./tree";

/** renameIn returns the splices that give the task at index another name everywhere. */
export function renameIn(good: Good, index: number, from: string, to: string): Splice[] {
  const list = tasksOf(good.root);
  const out: Splice[] = [];
  list?.items.forEach((item, i) => {
    const task = item.value;
    if (task.kind !== "map") return;
    for (const entry of task.entries) {
      if (entry.key === "name") {
        if (i === index) out.push(...replaceNode(good, entry.value, to, task.flow));
      } else if (entry.key === "needs") out.push(...needsIn(good, entry.value, from, to));
      else if (entry.key !== "script") out.push(...referencesIn(good.text, entry.value, from, to));
    }
  });
  return out;
}

function needsIn(good: Good, node: Node, from: string, to: string): Splice[] {
  if (node.kind !== "list") return [];
  return node.items.flatMap((item) =>
    item.value.kind === "scalar" && item.value.value === from ? replaceNode(good, item.value, to, node.flow) : [],
  );
}

// $${ is the text ${ itself. The output's name is what follows the last dot.
const reference = /(\$?)\$\{([^}\r\n]*)\.(\w+)\}/g;

function referencesIn(text: string, node: Node, from: string, to: string): Splice[] {
  switch (node.kind) {
    case "map":
      return node.entries.flatMap((e) => referencesIn(text, e.value, from, to));
    case "list":
      return node.items.flatMap((i) => referencesIn(text, i.value, from, to));
    case "scalar":
      return typeof node.value === "string" && node.value.includes("${") ? inScalar(text, node, from, to) : [];
  }
}

function inScalar(text: string, node: Node, from: string, to: string): Splice[] {
  const out: Splice[] = [];
  for (const match of text.slice(node.from, node.to).matchAll(reference)) {
    if (match[1] === "$" || match[2] !== from) continue;
    const at = node.from + match.index + "${".length;
    out.push({ from: at, to: at + from.length, insert: to });
  }
  return out;
}

/** namesUsed returns the tasks whose outputs a task's fields name, for lists of what a rename or a removal touches. */
export function namesUsed(good: Good, index: number): Set<string> {
  const task = tasksOf(good.root)?.items[index]?.value;
  const used = new Set<string>();
  if (task?.kind !== "map") return used;
  for (const entry of task.entries) {
    if (entry.key === "script") continue;
    for (const match of good.text.slice(entry.value.from, entry.value.to).matchAll(reference)) {
      if (match[1] !== "$" && match[2] !== undefined && match[2] !== "") used.add(match[2]);
    }
  }
  const own = entryOf(task, "name")?.value;
  if (own?.kind === "scalar") used.delete(String(own.value));
  return used;
}
