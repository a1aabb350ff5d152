// What every edit answers, and edits of single fields.

import { entryText } from "./format";
import type { Path } from "./path";
import type { Good, Reading } from "./read";
import { insertEntry, insertItem, removeEntry, removeItems, replaceEntry, replaceNode, type Source } from "./splice";
import type { Splice } from "./text";
import { type Entry, entryOf, type ListNode, type MapNode, type Node, type Value } from "./tree";

/** Refusal is why an edit is not made: a code and arguments for the sentence that is shown. */
export interface Refusal {
  readonly code:
    | "broken_text"
    | "no_such_task"
    | "no_such_field"
    | "name_taken"
    | "invalid_name"
    | "self_edge"
    | "edge_exists"
    | "no_such_edge"
    | "cycle"
    | "nothing_to_paste";
  readonly args: Readonly<Record<string, string>>;
}

/** Edit is the outcome of an edit: splices of the text that was read, none where nothing changes. */
export type Edit = { readonly ok: true; readonly splices: readonly Splice[] } | { readonly ok: false; readonly refusal: Refusal };

/** done answers with splices. */
export function done(splices: readonly Splice[]): Edit {
  return { ok: true, splices };
}

/** refuse answers with a reason. */
export function refuse(code: Refusal["code"], args: Refusal["args"] = {}): Edit {
  return { ok: false, refusal: { code, args } };
}

/** onGood runs an edit where the text parses, and refuses it elsewhere: a broken text is never rewritten. */
export function onGood(reading: Reading, edit: (good: Good) => Edit): Edit {
  return reading.good ? edit(reading) : refuse("broken_text", { line: String(reading.errors[0]?.line ?? 1) });
}

/** setField sets the value at a path such as ["tasks", 3, "retry", "times"], making the maps that are missing on the way. */
export function setField(reading: Reading, path: Path, value: Value): Edit {
  return onGood(reading, (good) => {
    const splices = setIn(good, good.root, path, value);
    return splices ? done(splices) : refuse("no_such_field", { field: path.join(".") });
  });
}

/** removeField takes a key or a list element away; a map that would be left empty goes with its last key. */
export function removeField(reading: Reading, path: Path): Edit {
  return onGood(reading, (good) => done(good.root ? removeIn(good, good.root, path) : []));
}

/** setIn returns the splices of setField below a map, or undefined where the path meets something else than maps and lists. */
export function setIn(source: Source, root: MapNode | null, path: Path, value: Value): Splice[] | undefined {
  if (!root) return typeof path[0] === "string" ? [append(source, path[0], nested(path.slice(1), value))] : undefined;
  let node: Node = root;
  for (let depth = 0; depth < path.length; depth++) {
    const step = path[depth];
    const rest = path.slice(depth + 1);
    if (typeof step === "string" && node.kind === "map") {
      const entry: Entry | undefined = entryOf(node, step);
      if (!entry) return insertEntry(source, node, step, nested(rest, value), place(node, step));
      if (rest.length === 0 || (entry.value.kind === "scalar" && entry.value.value === null)) {
        return replaceEntry(source, node, entry, nested(rest, value));
      }
      node = entry.value;
    } else if (typeof step === "number" && node.kind === "list") {
      const item: ListNode["items"][number] | undefined = node.items[step];
      if (!item) return step === node.items.length ? insertItem(source, node, nested(rest, value)) : undefined;
      if (rest.length === 0) return replaceNode(source, item.value, value, node.flow);
      node = item.value;
    } else return undefined;
  }
  return undefined;
}

// A file without content has comments at most: they stay in front.
function append(source: Source, key: string, value: Value): Splice {
  const { text, style } = source;
  const at = text.length;
  const lead = text === "" || text.endsWith("\n") ? "" : style.newline;
  return { from: at, to: at, insert: lead + entryText(key, value, 0, style) + style.newline };
}

function nested(path: Path, value: Value): Value {
  return path.reduceRight<Value>((inner, step) => (typeof step === "number" ? [inner] : { [step]: inner }), value);
}

// Where a reader looks for a key: type below name, needs below type; a script is best left last.
const order = ["name", "description", "type", "needs", "params"];

/** place names the key behind which a new key of a task stands. */
export function place(map: MapNode, key: string): string | undefined {
  const rank = order.indexOf(key);
  if (rank < 0 || !entryOf(map, "name")) return undefined;
  return order
    .slice(0, rank)
    .reverse()
    .find((k) => entryOf(map, k));
}

/** removeIn returns the splices of removeField below a map. */
export function removeIn(source: Source, root: MapNode, path: Path): Splice[] {
  const chain: Node[] = [root];
  for (const step of path.slice(0, -1)) {
    const node = chain.at(-1);
    const next = typeof step === "number" ? (node?.kind === "list" ? node.items[step]?.value : undefined) : entryOf(node, step)?.value;
    if (!next) return [];
    chain.push(next);
  }
  const at = path.length - 1;
  const step = path[at];
  const node = chain[at];
  if (typeof step === "string" && node?.kind === "map" && entryOf(node, step)) {
    const owner = path[at - 1];
    if (node.entries.length === 1 && typeof owner === "string") return removeIn(source, root, path.slice(0, -1));
    return removeEntry(source, node, step);
  }
  if (typeof step === "number" && node?.kind === "list" && node.items[step]) return removeItems(source, node, [step]);
  return [];
}
