// read turns a text into the model that canvas, form and list show, with the ranges that edits
// need. A text that does not parse keeps the last good model, so that no view goes blank.

import { parseAllDocuments, type YAMLParseError } from "yaml";
import { type Rule, ruleOf } from "./mistake";
import { breakOf, Lines } from "./text";
import { contentOf, entryOf, type Fields, type ListNode, type MapNode, type Node, Refused, treeOf, type Value } from "./tree";

/** Task is a task as it stands in the text. A missing name or type is empty. */
export interface Task {
  readonly index: number;
  readonly name: string;
  readonly type: string;
  readonly needs: readonly string[];
  /** finally says that it starts once all others have ended. */
  readonly finally: boolean;
  readonly fields: Fields;
}

/** Workflow is a document's content; fields has every top-level key but tasks. */
export interface Workflow {
  readonly name: string;
  readonly fields: Fields;
  readonly params: Fields;
  readonly tasks: readonly Task[];
}

/** ReadError is why a text has no tree. Lines and columns count from 1. */
export interface ReadError {
  readonly code: "syntax" | "duplicate_key" | "yaml_feature" | "wrong_type";
  readonly message: string;
  /** rule is the one that the text breaks, where the code alone says too little. */
  readonly rule: Rule | undefined;
  readonly line: number;
  readonly column: number;
  readonly from: number;
  readonly to: number;
}

/** Good is a text that can be edited from every view. root is null for a text without content. */
export interface Good {
  readonly good: true;
  readonly text: string;
  readonly model: Workflow;
  readonly root: MapNode | null;
  readonly style: Style;
  readonly errors: readonly [];
}

/** Broken is a text that only the text view may edit; model is the last good one, or empty. */
export interface Broken {
  readonly good: false;
  readonly text: string;
  readonly model: Workflow;
  readonly errors: readonly ReadError[];
}

/** Reading is a text with what is known of it. */
export type Reading = Good | Broken;

/** Style is what an edit must keep: the line break, and whether the file is JSON. */
export interface Style {
  readonly newline: string;
  readonly json: boolean;
}

const nothing: Workflow = { name: "", fields: {}, params: {}, tasks: [] };

/** read reads a text. last is the reading before it, whose model stays where the text is broken. */
export function read(text: string, last?: Reading): Reading {
  if (last && last.text === text) return last;
  const fallback = last?.model ?? nothing;
  const broken = (errors: readonly ReadError[]): Broken => ({ good: false, text, model: fallback, errors });
  let root: Node | null;
  try {
    root = parse(text);
  } catch (error) {
    return broken(errorsOf(text, error));
  }
  if (root && root.kind !== "map")
    return broken([failure(text, "wrong_type", { message: "a workflow is a map of keys", rule: "not_a_map" }, root.from, root.to)]);
  const wrong = root && misshapen(text, root);
  if (wrong) return broken([wrong]);
  const style: Style = { newline: breakOf(text), json: root?.flow === true };
  return { good: true, text, model: modelOf(root), root, style, errors: [] };
}

/** parse returns the tree of a text. It throws Mistakes or Refused. */
export function parse(text: string): Node | null {
  const docs = parseAllDocuments(text, { keepSourceTokens: true, prettyErrors: false, logLevel: "silent" });
  const first = docs[0];
  if (!first) return null;
  const errors = docs.flatMap((doc) => doc.errors);
  if (errors.length > 0) throw new Mistakes(errors);
  const second = docs[1];
  if (second) throw new Refused("documents", "several documents in one file are not allowed", second.range[0]);
  return treeOf(first, text);
}

class Mistakes extends Error {
  constructor(readonly list: readonly YAMLParseError[]) {
    super(list[0]?.message);
  }
}

// Ten are more than a person reads; a broken bracket can raise one per line below it.
const maxErrors = 10;

function errorsOf(text: string, error: unknown): readonly ReadError[] {
  if (error instanceof Refused) return [failure(text, "yaml_feature", error, error.offset, error.offset + 1)];
  if (!(error instanceof Mistakes)) throw error;
  return error.list
    .slice(0, maxErrors)
    .map((e) =>
      failure(
        text,
        e.code === "DUPLICATE_KEY" ? "duplicate_key" : "syntax",
        { message: e.message, rule: ruleOf(e.code, e.message) },
        ...e.pos,
      ),
    );
}

type Said = Pick<ReadError, "message" | "rule">;

function failure(text: string, code: ReadError["code"], { message, rule }: Said, from: number, to: number): ReadError {
  return { code, message, rule, from, to, ...new Lines(text).position(from) };
}

// Only shapes that leave the canvas nothing to draw are errors here: all else is shown, and named by validation.
function misshapen(text: string, root: MapNode): ReadError | undefined {
  const tasks = entryOf(root, "tasks")?.value;
  if (!tasks || (tasks.kind === "scalar" && tasks.value === null)) return undefined;
  if (tasks.kind !== "list")
    return failure(text, "wrong_type", { message: "tasks must be a list", rule: "not_a_list" }, tasks.from, tasks.to);
  const bad = tasks.items.find((item) => item.value.kind !== "map" && !(item.value.kind === "scalar" && item.value.value === null));
  return (
    bad && failure(text, "wrong_type", { message: "a task must be a map of keys", rule: "task_not_a_map" }, bad.value.from, bad.value.to)
  );
}

function modelOf(root: MapNode | null): Workflow {
  if (!root) return nothing;
  const fields: Record<string, Value> = {};
  for (const e of root.entries) if (e.key !== "tasks") fields[e.key] = contentOf(e.value);
  const params = fields.params;
  const tasks = (tasksOf(root)?.items ?? []).map((item, index) => taskOf(item.value, index));
  return { name: word(fields.name), fields, params: isFields(params) ? params : {}, tasks };
}

/** taskOf reads one task's node. */
export function taskOf(node: Node, index: number): Task {
  const value = contentOf(node);
  const fields = isFields(value) ? value : {};
  const needs = Array.isArray(fields.needs) ? fields.needs.map(word).filter((n) => n !== "") : [];
  return { index, name: word(fields.name), type: word(fields.type), needs, finally: fields.finally === true, fields };
}

/** word is a plain value as a text; anything else is empty. */
export function word(value: Value | undefined): string {
  return typeof value === "string" ? value : typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

/** isFields tells a map from other values. */
export function isFields(value: Value | undefined): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** tasksOf returns the list of tasks, where there is one. */
export function tasksOf(root: MapNode | null): ListNode | undefined {
  const node = entryOf(root, "tasks")?.value;
  return node?.kind === "list" ? node : undefined;
}
