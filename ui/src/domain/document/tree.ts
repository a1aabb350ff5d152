// The document as a tree of ranges. It is our own small shape, so that edits know the text and
// not the YAML library; tree.ts, read.ts and mistake.ts are the only files that import it.

import { type CST, type Document, isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import type { Rule } from "./mistake";
import type { Span } from "./text";

/** Value is what a document can hold. */
export type Value = string | number | boolean | null | readonly Value[] | Fields;

/** Fields is a map of values, in the order of the text. */
export interface Fields {
  readonly [key: string]: Value;
}

/** ScalarNode is one word, number or text. A block scalar ends before its last line break; an empty one has no width. */
export interface ScalarNode extends Span {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
  readonly style: "plain" | "single" | "double" | "literal" | "folded" | "empty";
}

/** Entry is a key with its value. */
export interface Entry {
  readonly key: string;
  readonly keyFrom: number;
  readonly keyTo: number;
  readonly colon: number;
  readonly value: Node;
}

/** MapNode starts at its first key, or at its brace. */
export interface MapNode extends Span {
  readonly kind: "map";
  readonly flow: boolean;
  readonly entries: readonly Entry[];
}

/** Item is an element of a list; dash is its sign in a block list, else its own start. */
export interface Item {
  readonly dash: number;
  readonly value: Node;
}

/** ListNode starts at its first dash, or at its bracket. */
export interface ListNode extends Span {
  readonly kind: "list";
  readonly flow: boolean;
  readonly items: readonly Item[];
}

/** Node is a place of the document. */
export type Node = ScalarNode | MapNode | ListNode;

/** Refused is a place that has something we do not edit: the reading is strict, as the server's is. */
export class Refused extends Error {
  constructor(
    readonly rule: Rule | undefined,
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** treeOf turns a parsed document into ranges. It throws Refused at anchors, aliases, tags and keys that are no words. */
export function treeOf(doc: Document.Parsed, text: string): Node | null {
  return doc.contents === null ? null : nodeOf(doc.contents, text, 0);
}

function nodeOf(node: ParsedNode | null, text: string, at: number): Node {
  if (node === null) return { kind: "scalar", from: at, to: at, value: null, style: "empty" };
  if (isAlias(node)) throw new Refused("alias", "aliases are not allowed", node.range[0]);
  if (node.anchor !== undefined) throw new Refused("anchor", "anchors are not allowed", node.range[0]);
  if (node.srcToken && hasTag(text, node.range[0], node.tag)) throw new Refused("tag", "tags are not allowed", node.range[0]);
  if (isMap(node)) return mapOf(node, text);
  if (isSeq(node)) return listOf(node, text);
  if (isScalar(node)) return scalarOf(node, text);
  throw new Refused(undefined, "this is not understood", at);
}

// The library fills tag in for plain nodes too, only with an explicit one the text before says "!".
function hasTag(text: string, from: number, tag: string | undefined): boolean {
  return tag !== undefined && /(^|[\s[{,])!\S*[ \t]*$/.test(text.slice(text.lastIndexOf("\n", from - 1) + 1, from));
}

function mapOf(node: YAMLMap.Parsed, text: string): MapNode {
  const sources = itemsOf(node.srcToken);
  const entries = node.items.map((pair, i): Entry => {
    const key = pair.key;
    if (!isScalar(key)) throw new Refused("key", "a key must be a word", key?.range?.[0] ?? node.range[0]);
    const colon = find(sources[i]?.sep, "map-value-ind") ?? key.range[1];
    const value = nodeOf(pair.value, text, Math.min(text.length, colon + 1));
    return { key: keyText(key.value, key.source), keyFrom: key.range[0], keyTo: key.range[1], colon, value };
  });
  const last = entries.at(-1);
  const to = node.flow || !last ? node.range[1] : Math.max(last.value.to, last.colon + 1);
  return { kind: "map", flow: node.flow === true, from: node.range[0], to, entries };
}

function keyText(value: unknown, source: string | undefined): string {
  return typeof value === "string" ? value : (source ?? String(value));
}

function listOf(node: YAMLSeq.Parsed, text: string): ListNode {
  const flow = node.flow === true;
  const sources = itemsOf(node.srcToken);
  const items = node.items.map((item, i): Item => {
    const dash = flow ? undefined : find(sources[i]?.start, "seq-item-ind");
    if (!isParsed(item)) throw new Refused("value", "a list element must be a value", node.range[0]);
    const value = nodeOf(item, text, dash === undefined ? node.range[0] : dash + 1);
    return { dash: dash ?? value.from, value };
  });
  const last = items.at(-1);
  const to = flow || !last ? node.range[1] : Math.max(last.value.to, last.dash + 1);
  return { kind: "list", flow, from: node.range[0], to, items };
}

function isParsed(item: unknown): item is ParsedNode | null {
  return item === null || isMap(item) || isSeq(item) || isScalar(item) || isAlias(item);
}

function scalarOf(node: Scalar.Parsed, text: string): ScalarNode {
  const [from, end] = node.range;
  const value: unknown = node.value;
  const known = typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
  const style = styleOf(node.type, from === end);
  return { kind: "scalar", from, to: style === "literal" || style === "folded" ? blockEnd(text, from, end) : end, value: known, style };
}

function styleOf(type: unknown, none: boolean): ScalarNode["style"] {
  switch (type) {
    case "QUOTE_SINGLE":
      return "single";
    case "QUOTE_DOUBLE":
      return "double";
    case "BLOCK_LITERAL":
      return "literal";
    case "BLOCK_FOLDED":
      return "folded";
    default:
      return none ? "empty" : "plain";
  }
}

// Blank lines below a block scalar belong to it only with the sign +: else they part it from what follows.
function blockEnd(text: string, from: number, end: number): number {
  const newline = text.indexOf("\n", from);
  const header = text.slice(from, newline < 0 ? end : newline);
  let to = text[end - 1] === "\n" ? end - 1 : end;
  if (/^[|>]\d?\+/.test(header)) return to;
  const first = /\n([ ]*)[^ \r\n]/.exec(text.slice(from, end));
  const indent = first?.[1]?.length ?? Number.POSITIVE_INFINITY;
  for (let start = text.lastIndexOf("\n", to - 1) + 1; start > from; start = text.lastIndexOf("\n", to - 1) + 1) {
    const line = text.slice(start, to);
    if (line.trim() !== "" || line.replace("\r", "").length > indent) break;
    to = start - 1;
  }
  return to > from && text[to - 1] === "\r" ? to - 1 : to;
}

function find(tokens: readonly CST.SourceToken[] | undefined, type: string): number | undefined {
  return tokens?.find((t) => t.type === type)?.offset;
}

interface SourceItem {
  start?: CST.SourceToken[];
  sep?: CST.SourceToken[];
}

function itemsOf(token: CST.Token | undefined): readonly SourceItem[] {
  return token && "items" in token ? token.items : [];
}

/** contentOf returns what stands at a node. */
export function contentOf(node: Node): Value {
  switch (node.kind) {
    case "scalar":
      return node.value;
    case "list":
      return node.items.map((item) => contentOf(item.value));
    case "map":
      return Object.fromEntries(node.entries.map((e) => [e.key, contentOf(e.value)]));
  }
}

/** entryOf returns a map's entry, or undefined also where node is no map. */
export function entryOf(node: Node | null | undefined, key: string): Entry | undefined {
  return node?.kind === "map" ? node.entries.find((e) => e.key === key) : undefined;
}
