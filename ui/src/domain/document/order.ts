// Another order of a list's elements in the text, above all of the tasks. An element's lines are its own with the comments above them.

import { done, type Edit, onGood, refuse } from "./edit";
import { indexOf, type Spot } from "./fields";
import { nodeAt, type Path } from "./path";
import { type Good, type Reading, tasksOf } from "./read";
import { leads } from "./splice";
import { contentEnd, lineStart, nextLine, type Span, type Splice } from "./text";
import type { ListNode } from "./tree";

/** moveTask moves a task by so many places, up for negative numbers, at most to the list's end. */
export function moveTask(reading: Reading, spot: Spot, by: number): Edit {
  return onGood(reading, (good) => {
    const list = tasksOf(good.root);
    const from = indexOf(good, spot);
    return list && from >= 0 ? done(moved(good, list, from, by)) : refuse("no_such_task", { task: spot.name });
  });
}

/** moveItem does the same for the element at an index of the list at a path. */
export function moveItem(reading: Reading, path: Path, from: number, by: number): Edit {
  return onGood(reading, (good) => {
    const list = nodeAt(good.root, path);
    return list?.kind === "list" && list.items[from]
      ? done(moved(good, list, from, by))
      : refuse("no_such_field", { field: path.join(".") });
  });
}

function moved(good: Good, list: ListNode, from: number, by: number): Splice[] {
  const to = Math.max(0, Math.min(list.items.length - 1, from + by));
  if (from === to) return [];
  return rotated(good.text, spansOf(good, list), Math.min(from, to), Math.max(from, to), from < to);
}

// The parts from low to high change places; what is between them, blank lines or commas, stays where it is.
function rotated(text: string, spans: readonly Span[], low: number, high: number, down: boolean): Splice[] {
  const parts = spans.slice(low, high + 1);
  const texts = parts.map((p) => text.slice(p.from, p.to));
  const next = down ? [...texts.slice(1), texts[0]] : [texts.at(-1), ...texts.slice(0, -1)];
  return parts.map((part, i) => ({ ...part, insert: next[i] ?? "" }));
}

function spansOf(good: Good, list: ListNode): Span[] {
  const { text } = good;
  const lines = !list.flow && list.items.every((item) => leads(text, item.dash));
  if (!lines)
    return list.items.map((item) => ({ from: list.flow ? item.value.from : item.dash, to: Math.max(item.value.to, item.dash + 1) }));
  return list.items.map((item, i) => {
    const before = list.items[i - 1];
    const floor = before ? nextLine(text, Math.max(before.value.to, before.dash + 1)) : lineStart(text, list.from);
    return { from: commentsAbove(text, lineStart(text, item.dash), floor), to: contentEnd(text, Math.max(item.value.to, item.dash + 1)) };
  });
}

// The first element's comments stand above the list's own first dash.
function commentsAbove(text: string, at: number, floor: number): number {
  let from = at;
  while (from > 0) {
    const above = lineStart(text, from - 1);
    if (!text.slice(above, from).trim().startsWith("#")) break;
    if (above < floor && floor < at) break;
    from = above;
  }
  return from;
}
