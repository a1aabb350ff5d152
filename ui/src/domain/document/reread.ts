// Reading again after an edit of some tasks, without parsing the others: at 2,000 tasks a whole
// read is most of a second, and a command of the canvas or the form touches a few tasks' lines.

import { type Good, parse, type Reading, read, type Task, taskOf, tasksOf } from "./read";
import { columnOf, leads } from "./splice";
import { applySplices, lineStart, ordered, type Splice } from "./text";
import { type Entry, entryOf, type Item, type ListNode, type MapNode, type Node } from "./tree";

/** reread returns what read would of the text with the splices done. */
export function reread(last: Good, splices: readonly Splice[]): Reading {
  const text = applySplices(last.text, splices);
  if (text === last.text) return last;
  return inTasks(last, ordered(splices), text) ?? read(text, last);
}

// A run of tasks whose lines are read anew: those at first up to but not with end, and their lines in the old text.
interface Run {
  readonly first: number;
  end: number;
  readonly from: number;
  to: number;
  /** How much longer the text has become before these lines, and in them. */
  readonly before: number;
  grown: number;
}

// A run's tasks as they are now, at their places in the new text.
interface Fresh {
  readonly items: readonly Item[];
  /** Where the list and the document end, if the run is the list's last. */
  readonly listTo: number;
  readonly rootTo: number;
}

function inTasks(last: Good, splices: readonly Splice[], text: string): Good | undefined {
  const entry = entryOf(last.root, "tasks");
  const list = tasksOf(last.root);
  if (!last.root || !entry || !list || list.flow || list.items.length === 0) return undefined;
  const runs = runsOf(last, list, splices, linesEnd(last.text, last.root, entry));
  if (!runs) return undefined;
  const column = columnOf(last.text, list.items[0]?.dash ?? 0);
  const fresh: Fresh[] = [];
  for (const run of runs) {
    const from = run.from + run.before;
    const to = run.to + run.before + run.grown;
    // What no longer ends its line has run into the one below.
    if (to < text.length && text[to - 1] !== "\n") return undefined;
    const one = parseRun(text.slice(from, to), from, column);
    if (!one) return undefined;
    fresh.push(one);
  }
  return rebuilt(last, { text, list, runs, fresh });
}

// The last task's lines reach to the next key of the workflow, or to the end.
function linesEnd(text: string, root: MapNode, tasks: Entry): number {
  const next = root.entries[root.entries.indexOf(tasks) + 1];
  return next ? lineStart(text, next.keyFrom) : text.length;
}

// A task's lines reach from its dash to the dash of the next one. What comes before the first dash is no task's.
function runsOf(last: Good, list: ListNode, splices: readonly Splice[], end: number): Run[] | undefined {
  const { items } = list;
  const start = (i: number) => (items[i] ? lineStart(last.text, items[i].dash) : end);
  const at = (offset: number) => items.findLastIndex((item, i) => item.dash <= offset || start(i) <= offset);
  const runs: Run[] = [];
  let before = 0;
  for (const { from, to, insert } of splices) {
    let first = at(from);
    const final = Math.max(first, to > from ? at(to - 1) : first);
    if (first < 0 || to > end || (from >= end && end < last.text.length)) return undefined;
    // Tasks that go leave their place to the one above: it may get the lines that stay.
    if (first > 0 && from === start(first)) first--;
    const grown = insert.length - (to - from);
    const run = runs.at(-1);
    if (run && first < run.end) {
      run.end = Math.max(run.end, final + 1);
      run.to = start(run.end);
      run.grown += grown;
    } else runs.push({ first, end: final + 1, from: start(first), to: start(final + 1), before, grown });
    before += grown;
  }
  const led = runs.every((run) => [run.first, run.end].every((i) => !items[i] || leads(last.text, items[i].dash)));
  return led ? runs : undefined;
}

const head = "tasks:\n";

// The lines alone must be tasks again, and nothing else: whatever else they have become, a whole read tells.
function parseRun(lines: string, from: number, column: number): Fresh | undefined {
  let root: Node | null;
  try {
    root = parse(head + lines);
  } catch {
    return undefined;
  }
  const list = entryOf(root, "tasks")?.value;
  if (root?.kind !== "map" || root.entries.length !== 1 || list?.kind !== "list" || list.flow) return undefined;
  const first = list.items[0];
  if (!first || first.dash !== head.length + column || list.items.some((item) => item.value.kind !== "map")) return undefined;
  const by = from - head.length;
  return { items: list.items.map((item) => moveItem(item, by)), listTo: list.to + by, rootTo: root.to + by };
}

interface Change {
  readonly text: string;
  readonly list: ListNode;
  readonly runs: readonly Run[];
  readonly fresh: readonly Fresh[];
}

function rebuilt(last: Good, { text, list, runs, fresh }: Change): Good | undefined {
  if (!last.root) return undefined;
  const items: Item[] = [];
  const tasks: Task[] = [];
  let [next, by] = [0, 0];
  const keep = (end: number) => {
    for (; next < end; next++) {
      const [item, task] = [list.items[next], last.model.tasks[next]];
      if (!item || !task) continue;
      tasks.push(task.index === items.length ? task : { ...task, index: items.length });
      items.push(by === 0 ? item : moveItem(item, by));
    }
  };
  runs.forEach((run, i) => {
    keep(run.first);
    for (const item of fresh[i]?.items ?? []) {
      tasks.push(taskOf(item.value, items.length));
      items.push(item);
    }
    next = run.end;
    by = run.before + run.grown;
  });
  keep(list.items.length);
  const lastRun = runs.at(-1)?.end === list.items.length ? fresh.at(-1) : undefined;
  const to = lastRun?.listTo ?? list.to + by;
  const entries = last.root.entries.map((e) => {
    if (e.value === list) return { ...e, value: { ...list, to, items } };
    return e.keyFrom < list.from ? e : moveEntry(e, by);
  });
  const ends = last.root.entries.at(-1)?.value === list ? lastRun?.rootTo : undefined;
  const root: MapNode = { ...last.root, to: ends ?? last.root.to + by, entries };
  return { ...last, text, root, style: { ...last.style }, model: { ...last.model, tasks } };
}

function moveItem(item: Item, by: number): Item {
  return { dash: item.dash + by, value: move(item.value, by) };
}

function moveEntry(e: Entry, by: number): Entry {
  return { key: e.key, keyFrom: e.keyFrom + by, keyTo: e.keyTo + by, colon: e.colon + by, value: move(e.value, by) };
}

function move(node: Node, by: number): Node {
  const place = { from: node.from + by, to: node.to + by };
  switch (node.kind) {
    case "scalar":
      return { ...node, ...place };
    case "list":
      return { ...node, ...place, items: node.items.map((i) => moveItem(i, by)) };
    case "map":
      return { ...node, ...place, entries: node.entries.map((e) => moveEntry(e, by)) };
  }
}
