// Reading again after an edit inside one task, without parsing the others: at 2,000 tasks a whole
// read is most of a second, and an edit from the canvas or the form touches one task's lines.

import { type Good, parse, type Reading, read, type Style, taskOf, tasksOf } from "./read";
import { columnOf, leads } from "./splice";
import { applySplices, lineStart, ordered, type Splice } from "./text";
import { entryOf, type ListNode, type MapNode, type Node } from "./tree";

/** reread returns what read would of the text with the splices done. */
export function reread(last: Good, splices: readonly Splice[]): Reading {
  const text = applySplices(last.text, splices);
  if (text === last.text) return last;
  return inOneTask(last, splices, text) ?? read(text, last);
}

// A task's lines reach from its dash to the dash of the next one; the last task is read with the whole.
function inOneTask(last: Good, splices: readonly Splice[], text: string): Good | undefined {
  const list = tasksOf(last.root);
  if (!last.root || !list || list.flow) return undefined;
  const sorted = ordered(splices);
  const [low, high] = [sorted[0]?.from ?? 0, sorted.at(-1)?.to ?? 0];
  const index = list.items.findLastIndex((item) => item.dash < low);
  const [item, next] = [list.items[index], list.items[index + 1]];
  if (!item || !next || !leads(last.text, item.dash) || !leads(last.text, next.dash)) return undefined;
  const [from, to] = [lineStart(last.text, item.dash), lineStart(last.text, next.dash)];
  if (high >= to) return undefined;
  const shift = text.length - last.text.length;
  const value = parseItem(text.slice(from, to + shift), from, columnOf(last.text, item.dash));
  return value && rebuilt(last, { text, list, index, value, shift });
}

const head = "tasks:\n";

// The lines alone must be one task again: whatever else they have become, a whole read tells.
function parseItem(lines: string, from: number, column: number): MapNode | undefined {
  let root: Node | null;
  try {
    root = parse(head + lines);
  } catch {
    return undefined;
  }
  const list = entryOf(root, "tasks")?.value;
  const item = list?.kind === "list" && list.items.length === 1 ? list.items[0] : undefined;
  if (root?.kind !== "map" || root.entries.length !== 1 || !item || item.value.kind !== "map") return undefined;
  if (item.dash !== head.length + column) return undefined;
  const moved = move(item.value, from - head.length);
  return moved.kind === "map" ? moved : undefined;
}

interface Change {
  readonly text: string;
  readonly list: ListNode;
  readonly index: number;
  readonly value: MapNode;
  readonly shift: number;
}

function rebuilt(last: Good, { text, list, index, value, shift }: Change): Good | undefined {
  if (!last.root) return undefined;
  const items = list.items.map((item, i) => {
    if (i < index || (i > index && shift === 0)) return item;
    return i === index ? { dash: item.dash, value } : { dash: item.dash + shift, value: move(item.value, shift) };
  });
  const entries = last.root.entries.map((e) => {
    if (e.value === list) return { ...e, value: { ...list, to: list.to + shift, items } };
    if (e.keyFrom < list.from) return e;
    return { ...e, keyFrom: e.keyFrom + shift, keyTo: e.keyTo + shift, colon: e.colon + shift, value: move(e.value, shift) };
  });
  const root: MapNode = { ...last.root, to: last.root.to + shift, entries };
  const tasks = last.model.tasks.map((t, i) => (i === index ? taskOf(value, index) : t));
  const style: Style = { ...last.style };
  return { ...last, text, root, style, model: { ...last.model, tasks } };
}

function move(node: Node, by: number): Node {
  const place = { from: node.from + by, to: node.to + by };
  switch (node.kind) {
    case "scalar":
      return { ...node, ...place };
    case "list":
      return { ...node, ...place, items: node.items.map((i) => ({ dash: i.dash + by, value: move(i.value, by) })) };
    case "map": {
      const entries = node.entries.map((e) => ({
        key: e.key,
        keyFrom: e.keyFrom + by,
        keyTo: e.keyTo + by,
        colon: e.colon + by,
        value: move(e.value, by),
      }));
      return { ...node, ...place, entries };
    }
  }
}
