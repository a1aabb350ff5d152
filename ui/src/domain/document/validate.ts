// The server's findings at their places: a badge on the node, text at the field, a mark in the
// gutter, a row in the Problems strip. One list feeds all four, so they cannot disagree.

import type { Rule } from "./mistake";
import { fieldOf, locate, type Path, parsePath } from "./path";
import type { Good, Reading } from "./read";
import { Lines, type Span } from "./text";

/** Finding is one wrong field, as POST /validate and refused saves answer it. */
export interface Finding {
  readonly field: string;
  readonly code: string;
  readonly message: string;
  /** severity is error where it is left out: a warning hinders nothing. */
  readonly severity?: "error" | "warning";
  readonly value?: string;
  readonly line?: number;
  readonly column?: number;
  /** rule is what a text breaks that the page itself could not read. */
  readonly rule?: Rule;
  /** args are the values in the sentence of the code. */
  readonly args?: Readonly<Record<string, unknown>>;
}

/** Problem is a finding with its places. task is undefined for the workflow's own; path is inside the task, or of the workflow. */
export interface Problem extends Finding {
  readonly id: string;
  readonly task: string | undefined;
  readonly index: number | undefined;
  readonly path: Path;
  readonly range: Span;
  readonly at: { readonly line: number; readonly column: number };
}

/** Problems is what the four views show. */
export interface Problems {
  readonly all: readonly Problem[];
  /** By task name: the badge and the form of a node. */
  readonly ofTask: ReadonlyMap<string, readonly Problem[]>;
  /** Those that concern the workflow itself. */
  readonly ofWorkflow: readonly Problem[];
  /** By line, counted from 1: the gutter. */
  readonly ofLine: ReadonlyMap<number, readonly Problem[]>;
}

/** problemsOf places findings in the reading they were made for. A broken text shows its own errors, with the server's behind them. */
export function problemsOf(reading: Reading, findings: readonly Finding[]): Problems {
  const lines = new Lines(reading.text);
  // One bracket too many makes a mistake of each line below: the first is the one to mend.
  const first = reading.errors.findIndex((e) => e.code === "syntax");
  const mistakes = reading.errors.filter((e, i) => e.code !== "syntax" || i === first);
  const own = mistakes.map(({ code, message, rule, line, column }) => ({
    field: "body",
    code,
    message,
    line,
    column,
    ...(rule && { rule }),
  }));
  const served = reading.good ? findings : findings.filter((f) => f.field !== "body" || own.length === 0);
  const inOrder = (findings: readonly Finding[]) =>
    findings
      .map((finding) => (reading.good ? inTree(reading, lines, finding) : inText(lines, finding)))
      .sort((a, b) => a.range.from - b.range.from);
  const placed = [...inOrder(own), ...inOrder(served)];
  const seen = new Map<string, number>();
  const all = placed.map((problem): Problem => {
    const key = `${problem.field} ${problem.code}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return { ...problem, id: nth === 1 ? key : `${key} ${nth}` };
  });
  return {
    all,
    ofTask: grouped(all, (p) => p.task),
    ofWorkflow: all.filter((p) => p.task === undefined),
    ofLine: grouped(all, (p) => p.at.line),
  };
}

type Placed = Omit<Problem, "id">;

function inTree(good: Good, lines: Lines, finding: Finding): Placed {
  const path = finding.field === "body" ? [] : parsePath(finding.field);
  const [first, index, ...inner] = path;
  const task = first === "tasks" && typeof index === "number" ? good.model.tasks[index] : undefined;
  const owner = task && { task: task.name === "" ? `#${task.index + 1}` : task.name, index: task.index, path: inner };
  if (!good.root || path.length === 0) return { ...inText(lines, finding), ...owner };
  const place = locate(good.root, path);
  const missing = place.depth < path.length && path.length - place.depth === 1;
  // A key that is missing has no place: its task's first line stands for it, as a whole task underlined says nothing.
  const range = place.depth === path.length || !missing ? place.node : firstLine(good.text, place.node);
  const span = range.from === range.to && place.key ? place.key : firstLine(good.text, range);
  return { ...finding, task: undefined, index: undefined, path, ...owner, range: span, at: lines.position(span.from) };
}

function firstLine(text: string, span: Span): Span {
  const end = text.indexOf("\n", span.from);
  return { from: span.from, to: end >= 0 && end < span.to ? end : span.to };
}

function inText(lines: Lines, finding: Finding): Placed {
  const line = finding.line && finding.line > 0 ? finding.line : 1;
  const column = finding.column && finding.column > 0 ? finding.column : 1;
  const whole = lines.span(line);
  const range = { from: Math.min(lines.offset(line, column), whole.to), to: whole.to };
  return { ...finding, task: undefined, index: undefined, path: [], range, at: { line, column } };
}

function grouped<K extends string | number>(all: readonly Problem[], key: (p: Problem) => K | undefined): Map<K, Problem[]> {
  const out = new Map<K, Problem[]>();
  for (const p of all) {
    const k = key(p);
    if (k === undefined) continue;
    const list = out.get(k);
    if (list) list.push(p);
    else out.set(k, [p]);
  }
  return out;
}

/** problemsAt returns those of a task's field or of what is below it: "retry" has those of "retry.times". */
export function problemsAt(problems: Problems, task: string | undefined, field: Path): readonly Problem[] {
  const list = task === undefined ? problems.ofWorkflow : (problems.ofTask.get(task) ?? []);
  const prefix = fieldOf(field);
  return list.filter((p) => fieldOf(p.path.slice(0, field.length)) === prefix);
}
