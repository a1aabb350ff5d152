// Edits of maps and lists as splices. Nothing here knows what a task is.

import { blockText, entryText, flowText, isList, itemText, keyText, literalText, scalarText, type Written } from "./format";
import type { Style } from "./read";
import { contentEnd, lineStart, nextLine, type Span, type Splice } from "./text";
import type { Entry, ListNode, MapNode, Node, ScalarNode, Value } from "./tree";

/** Source is the text that nodes point into. */
export interface Source {
  readonly text: string;
  readonly style: Style;
}

/** endOf is where an entry ends, without a comment behind it. */
export function endOf(entry: Entry): number {
  return Math.max(entry.value.to, entry.colon + 1);
}

/** columnOf counts the characters before offset on its line. */
export function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset);
}

/** leads tells whether offset is the first thing on its line. */
export function leads(text: string, offset: number): boolean {
  return /^\s*$/.test(text.slice(lineStart(text, offset), offset));
}

// shrunk takes what is equal at both ends off a replacement, so that carets and comparisons stay calm.
function shrunk(text: string, from: number, to: number, insert: string): Splice[] {
  let head = from;
  let tail = to;
  let begin = 0;
  let end = insert.length;
  while (head < tail && begin < end && text[head] === insert[begin]) {
    head++;
    begin++;
  }
  while (tail > head && end > begin && text[tail - 1] === insert[end - 1]) {
    tail--;
    end--;
  }
  return head === tail && begin === end ? [] : [{ from: head, to: tail, insert: insert.slice(begin, end) }];
}

/** linesAfter inserts whole lines below the line that holds offset. */
export function linesAfter(source: Source, offset: number, lines: string): Splice {
  const at = contentEnd(source.text, offset);
  const last = at === source.text.length ? source.style.newline : "";
  return { from: at, to: at, insert: source.style.newline + lines + last };
}

/** replaceEntry gives an entry another value. Comments on its line stay. */
export function replaceEntry(source: Source, map: MapNode, entry: Entry, value: Value): Splice[] {
  const old = entry.value;
  if (map.flow || source.style.json) return replaceFlow(source, entry, value);
  const written = writeOver(source, entry, value);
  const end = endOf(entry);
  const comment = old.kind === "scalar" && (old.style === "literal" || old.style === "folded") ? headerComment(source.text, old) : "";
  const rest = comment === "" ? source.text.slice(end, contentEnd(source.text, end)) : "";
  const keeps = written.body !== "" && rest.trim() !== "";
  const tail = written.body !== "" && end >= source.text.length ? source.style.newline : "";
  const insert = `${written.head === "" ? "" : " "}${written.head}${comment}${keeps ? rest : ""}${written.body}${tail}`;
  return shrunk(source.text, entry.colon + 1, keeps ? end + rest.length : end, insert);
}

function replaceFlow(source: Source, entry: Entry, value: Value): Splice[] {
  const old = entry.value;
  const json = source.style.json;
  const text = isPlainValue(value)
    ? scalarText(value, { flow: true, json, before: old.kind === "scalar" ? old.style : undefined })
    : flowText(value, json);
  if (old.from === old.to) return [{ from: entry.colon + 1, to: entry.colon + 1, insert: ` ${text}` }];
  return shrunk(source.text, old.from, old.to, text);
}

function isPlainValue(value: Value): value is string | number | boolean | null {
  return typeof value !== "object" || value === null;
}

function headerComment(text: string, old: ScalarNode): string {
  const header = text.slice(old.from, contentEnd(text, old.from));
  return /\s+#.*$/.exec(header)?.[0] ?? "";
}

function writeOver(source: Source, entry: Entry, value: Value): Written {
  const old = entry.value;
  const column = columnOf(source.text, entry.keyFrom);
  if (old.kind === "scalar" && isPlainValue(value)) {
    const block = old.style === "literal" || old.style === "folded";
    if (typeof value === "string" && (value.includes("\n") || (block && value !== ""))) {
      const indent = block ? blockIndent(source.text, old, column) : column + 2;
      const literal = literalText(value, { column, indent, newline: source.style.newline });
      if (literal) return literal;
    }
    return { head: scalarText(value, { flow: false, json: false, before: old.style }), body: "" };
  }
  if (old.kind === "list" && !old.flow && isList(value) && value.length > 0 && value.every(isPlainValue)) {
    const dash = columnOf(source.text, old.from);
    const pad = source.style.newline + " ".repeat(dash);
    return { head: "", body: value.map((v) => `${pad}- ${flowText(v, false)}`).join("") };
  }
  return blockText(value, column, source.style);
}

function blockIndent(text: string, old: ScalarNode, column: number): number {
  for (let at = nextLine(text, old.from); at < old.to; at = nextLine(text, at)) {
    const line = text.slice(at, contentEnd(text, at));
    const digit = /^[|>][-+]?(\d)/.exec(text.slice(old.from, old.from + 3))?.[1];
    if (digit !== undefined) return column + Number(digit);
    if (line.trim() !== "") return line.length - line.trimStart().length;
  }
  return column + 2;
}

/** replaceNode gives a list element or another value that has no key of its own another value, on one line. */
export function replaceNode(source: Source, node: Node, value: Value, flow: boolean): Splice[] {
  const json = source.style.json;
  const before = node.kind === "scalar" ? node.style : undefined;
  const text = isPlainValue(value) ? scalarText(value, { flow, json, before }) : flowText(value, json);
  const gap = node.from === node.to && node.from > 0 && !/[\s[{]/.test(source.text[node.from - 1] ?? "") ? " " : "";
  return shrunk(source.text, node.from, node.to, gap + text);
}

/** insertEntry adds a key to a map: after the entry named after, else as the last. */
export function insertEntry(source: Source, map: MapNode, key: string, value: Value, after?: string): Splice[] {
  const at = map.entries.findIndex((e) => e.key === after);
  const behind = map.entries[at >= 0 ? at : map.entries.length - 1];
  if (map.flow || !behind) {
    const written = `${keyText(key, source.style.json)}: ${flowText(value, source.style.json)}`;
    return [
      flowInsert(
        source,
        map,
        behind && endOf(behind),
        map.entries.map((e) => ({ from: e.keyFrom, to: endOf(e) })),
        written,
      ),
    ];
  }
  const column = columnOf(source.text, map.from);
  return [linesAfter(source, endOf(behind), " ".repeat(column) + entryText(key, value, column, source.style))];
}

// The separator is that of the elements which stand there, so that one per line stays one per line.
function flowInsert(source: Source, around: Span, behind: number | undefined, parts: readonly Span[], written: string): Splice {
  if (behind === undefined) {
    const at = around.from + 1;
    return { from: at, to: at, insert: written };
  }
  const last = parts.at(-1);
  const previous = parts.at(-2);
  const first = parts[0];
  let separator = ", ";
  if (last && previous) {
    const found = source.text.slice(previous.to, last.from);
    if (/^\s*,\s*$/.test(found)) separator = found;
  } else if (first) {
    const lead = source.text.slice(around.from + 1, first.from);
    if (/^\s*\n\s*$/.test(lead)) separator = `,${lead}`;
  }
  return { from: behind, to: behind, insert: separator + written };
}

/** removeEntry takes a key and its lines out of a map that has others. */
export function removeEntry(source: Source, map: MapNode, key: string): Splice[] {
  const index = map.entries.findIndex((e) => e.key === key);
  const entry = map.entries[index];
  if (!entry) return [];
  if (map.entries.length === 1) return [{ from: map.from, to: map.to, insert: "{}" }];
  if (map.flow) {
    return flowRemove(
      map.entries.map((e) => ({ from: e.keyFrom, to: endOf(e) })),
      [index],
    );
  }
  const { text } = source;
  if (leads(text, entry.keyFrom)) return [linesOf(text, entry.keyFrom, endOf(entry))];
  const end = contentEnd(text, endOf(entry));
  const next = map.entries[index + 1];
  const joins = next && text.slice(end, next.keyFrom).trim() === "";
  return [{ from: entry.keyFrom, to: joins ? next.keyFrom : end, insert: "" }];
}

/** linesOf removes the lines from..to stands on. Of blank lines on both sides one group goes with them. */
export function linesOf(text: string, from: number, to: number): Splice {
  let begin = lineStart(text, from);
  let end = nextLine(text, to);
  const blankBefore = begin > 0 && text.slice(lineStart(text, begin - 1), begin).trim() === "";
  if (blankBefore) while (end < text.length && text.slice(end, nextLine(text, end)).trim() === "") end = nextLine(text, end);
  if (end === text.length && begin > 0 && text[end - 1] !== "\n") begin = contentEnd(text, lineStart(text, begin - 1));
  return { from: begin, to: end, insert: "" };
}

function flowRemove(parts: readonly Span[], gone: readonly number[]): Splice[] {
  const out: Splice[] = [];
  const set = new Set(gone);
  for (let i = 0; i < parts.length; i++) {
    if (!set.has(i)) continue;
    let j = i;
    while (set.has(j + 1)) j++;
    const [here, last, next, previous] = [parts[i], parts[j], parts[j + 1], parts[i - 1]];
    if (here && next) out.push({ from: here.from, to: next.from, insert: "" });
    else if (last && previous) out.push({ from: previous.to, to: last.to, insert: "" });
    i = j;
  }
  return out;
}

/** insertItem adds an element to a list: after the one at index after, else as the last. */
export function insertItem(source: Source, list: ListNode, value: Value, after = list.items.length - 1): Splice[] {
  const behind = list.items[after];
  if (list.flow || !behind) {
    const parts = list.items.map((i) => ({ from: i.value.from, to: i.value.to }));
    return [flowInsert(source, list, behind?.value.to, parts, flowText(value, source.style.json))];
  }
  const flow = behind.value.kind === "map" && behind.value.flow;
  const column = columnOf(source.text, behind.dash);
  const wide = behind.value.from - behind.dash - 1;
  const gap = wide >= 1 && wide <= 8 && contentEnd(source.text, behind.dash) >= behind.value.from ? wide : 1;
  const text = flow ? flowText(value, false) : itemText(value, column, source.style, gap);
  return [linesAfter(source, Math.max(behind.value.to, behind.dash + 1), `${" ".repeat(column)}-${" ".repeat(gap)}${text}`)];
}

/** removeItems takes elements out of a list that keeps others. */
export function removeItems(source: Source, list: ListNode, gone: readonly number[]): Splice[] {
  const kept = list.items.filter((_, i) => !gone.includes(i));
  if (kept.length === 0) return [{ from: list.from, to: list.to, insert: "[]" }];
  if (list.flow) {
    return flowRemove(
      list.items.map((i) => ({ from: i.value.from, to: i.value.to })),
      gone,
    );
  }
  const { text } = source;
  return merged(
    gone.flatMap((index) => {
      const item = list.items[index];
      if (!item) return [];
      const end = Math.max(item.value.to, item.dash + 1);
      if (leads(text, item.dash)) return [linesOf(text, item.dash, end)];
      const next = list.items[index + 1];
      return next ? [{ from: item.dash, to: next.dash, insert: "" }] : [];
    }),
  );
}

// Removals of neighbours can share blank lines.
function merged(removals: readonly Splice[]): Splice[] {
  const out: Splice[] = [];
  for (const r of [...removals].sort((a, b) => a.from - b.from)) {
    const last = out.at(-1);
    if (last && r.from <= last.to) out[out.length - 1] = { from: last.from, to: Math.max(last.to, r.to), insert: "" };
    else out.push(r);
  }
  return out;
}
