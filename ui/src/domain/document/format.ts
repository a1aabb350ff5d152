// Values as YAML text. Only what is inserted is written here; what stands in the file stays.

import type { Style } from "./read";
import type { ScalarNode, Value } from "./tree";

// What YAML 1.1 and 1.2 readers take for something else than a text.
const reserved = /^(true|false|yes|no|on|off|y|n|null|~|-|=|<<|\.(inf|nan)|[-+]\.inf|---.*|\.\.\..*)$/i;
const numeric = /^[-+]?(\.?\d[\d_,.:]*([eE][-+]?\d*)?|0[xob][\da-f_]*)$|^\d{4}-\d/i;

/** isPlain tells whether every YAML reader takes the bare text for this text. */
export function isPlain(text: string, flow: boolean): boolean {
  if (text === "" || reserved.test(text) || numeric.test(text)) return false;
  if (/^[\s\-?:,[\]{}#&*!|>'"%@`]|\s$|:$|: | #|[^\P{C}]|[\u2028\u2029\ufeff]/u.test(text)) return false;
  return !(flow && /[,[\]{}]|:["']|^:/.test(text));
}

function single(text: string): string | undefined {
  return /[^\P{C}]|[\u2028\u2029]/u.test(text) ? undefined : `'${text.replaceAll("'", "''")}'`;
}

function double(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Spot is where a value is written: inside brackets or not, and what stood there. */
export interface Spot {
  readonly flow: boolean;
  readonly json: boolean;
  readonly before?: ScalarNode["style"];
}

/** scalarText writes a scalar on one line, in the style that stood there if that can hold it. */
export function scalarText(value: string | number | boolean | null, spot: Spot): string {
  if (typeof value !== "string") return value === null ? "null" : typeof value === "number" ? numberText(value) : String(value);
  if (spot.json || spot.before === "double") return double(value);
  const quoted = single(value);
  if (spot.before === "single" && quoted !== undefined) return quoted;
  if (isPlain(value, spot.flow)) return value;
  return quoted === undefined || value.includes("'") ? double(value) : quoted;
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return ".nan";
  if (!Number.isFinite(value)) return value > 0 ? ".inf" : "-.inf";
  return String(value);
}

/** flowText writes a value on one line. */
export function flowText(value: Value, json: boolean): string {
  if (typeof value !== "object" || value === null) return scalarText(value, { flow: true, json });
  if (isList(value)) return `[${value.map((v) => flowText(v, json)).join(", ")}]`;
  const body = Object.entries(value).map(([k, v]) => `${keyText(k, json)}: ${flowText(v, json)}`);
  return `{${body.join(", ")}}`;
}

/** keyText writes a key. */
export function keyText(key: string, json: boolean): string {
  return scalarText(key, { flow: true, json });
}

/** isList tells a list from other values. */
export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

/** Written is a value after its colon or dash: head stays on that line, body follows below it. */
export interface Written {
  readonly head: string;
  readonly body: string;
}

// A flow map that is longer than this is hard to read on one line.
const flowWidth = 100;

/** blockText writes a value below a key or dash that stands at column; body starts with a line break. */
export function blockText(value: Value, column: number, style: Style): Written {
  if (style.json) return { head: flowText(value, true), body: "" };
  if (typeof value === "string" && value.includes("\n")) {
    const literal = literalText(value, { column, indent: column + 2, newline: style.newline });
    if (literal) return literal;
  }
  if (typeof value !== "object" || value === null) return { head: scalarText(value, { flow: false, json: false }), body: "" };
  const flat = flowText(value, false);
  if (!hasLines(value) && (isList(value) ? value.every(isScalar) : Object.values(value).every(isScalar)) && flat.length <= flowWidth) {
    return { head: flat, body: "" };
  }
  const pad = " ".repeat(column + 2);
  const lines = isList(value)
    ? value.map((v) => `- ${itemText(v, column + 2, style)}`)
    : Object.entries(value).map(([k, v]) => entryText(k, v, column + 2, style));
  return { head: "", body: lines.map((l) => style.newline + pad + l).join("") };
}

/** entryText writes a key and its value at column, without the first line's indentation and the last line's break. */
export function entryText(key: string, value: Value, column: number, style: Style): string {
  const { head, body } = blockText(value, column, style);
  return `${keyText(key, style.json)}:${head === "" ? "" : " "}${head}${body}`;
}

/** itemText writes a list element whose dash stands at column: a map as block, its first key on the dash's line. */
export function itemText(value: Value, column: number, style: Style, gap = 1): string {
  if (style.json || typeof value !== "object" || value === null || isList(value)) return flowText(value, style.json);
  const entries = Object.entries(value);
  if (entries.length === 0) return "{}";
  const at = column + 1 + gap;
  return entries.map(([k, v]) => entryText(k, v, at, style)).join(style.newline + " ".repeat(at));
}

function isScalar(value: Value): boolean {
  return typeof value !== "object" || value === null;
}

function hasLines(value: Value): boolean {
  if (typeof value === "string") return value.includes("\n");
  return typeof value === "object" && value !== null && Object.values(value).some(hasLines);
}

/** Block says how a block scalar stands: column of its key, indentation of its text, comment of its header. */
export interface Block {
  readonly column: number;
  readonly indent: number;
  readonly newline: string;
  readonly comment?: string;
}

/** literalText writes a text as a block scalar, or undefined where only quotes can hold it. */
export function literalText(value: string, block: Block): Written | undefined {
  const text = value.endsWith("\n") ? value.slice(0, -1) : value;
  if (text === "" || /^\s*$/.test(text) || text.endsWith("\n") || /[^\P{C}\n\t]|[\u2028\u2029]/u.test(text)) return undefined;
  const lines = text.split("\n");
  if (/^\s*$/.test(lines.at(-1) ?? "")) return undefined;
  const first = lines.find((l) => l !== "") ?? "";
  const lead = lines.slice(0, lines.indexOf(first));
  const digit = block.indent - block.column;
  if (digit < 1 || digit > 9) return undefined;
  const sign = /^[ \t]/.test(first) || lead.some((l) => l !== "") ? String(digit) : "";
  const head = `|${sign}${value.endsWith("\n") ? "" : "-"}${block.comment ?? ""}`;
  const pad = " ".repeat(block.indent);
  return { head, body: lines.map((l) => block.newline + (l === "" ? "" : pad + l)).join("") };
}
