// What the keys of tasks say of when they run, as a graph shows it: words on the edges into
// branches, and marks on the nodes.

import { casesOf, elseOf } from "../document/branches";
import { isFields, type Task, word } from "../document/read";
import { edgeId } from "./model";

/** Branch is what leads along an edge: cases by their numbers from 1, and else. */
export interface Branch {
  readonly cases: readonly number[];
  readonly other: boolean;
  /** when is the condition where there is one case alone. */
  readonly when: string;
}

/** Rules are those of a workflow's tasks. */
export interface Rules {
  /** By edgeId: the edges that lead into a branch. */
  readonly branches: ReadonlyMap<string, Branch>;
  /** By task: a join other than the usual one, and when, as they stand in the text. */
  readonly gates: ReadonlyMap<string, string>;
  /** The tasks that come last. */
  readonly last: ReadonlySet<string>;
  /** By task: the type of what undoes it. */
  readonly undone: ReadonlyMap<string, string>;
}

/** rulesOf reads the rules of tasks. */
export function rulesOf(tasks: readonly Task[]): Rules {
  const branches = new Map<string, Branch>();
  const gates = new Map<string, string>();
  const last = new Set<string>();
  const undone = new Map<string, string>();
  for (const task of tasks) {
    if (task.finally) last.add(task.name);
    const undo = task.fields.compensate;
    if (isFields(undo)) undone.set(task.name, word(undo.type) || "?");
    const gate = gateOf(task);
    if (gate !== "") gates.set(task.name, gate);
    for (const [to, branch] of branchesOf(task)) branches.set(edgeId(task.name, to), branch);
  }
  return { branches, gates, last, undone };
}

function gateOf({ fields }: Task): string {
  const [join, when] = [word(fields.join), word(fields.when)];
  const own = [join === "" || join === "all_success" ? "" : `join: ${join}`, when === "" ? "" : `when: ${when}`];
  return own.filter((w) => w !== "").join("\n");
}

function branchesOf(task: Task): Map<string, Branch> {
  const out = new Map<string, Branch>();
  for (const [i, { when, then }] of casesOf(task).entries()) {
    for (const to of new Set(then)) {
      const before = out.get(to);
      out.set(to, { cases: [...(before?.cases ?? []), i + 1], other: false, when: before ? "" : when });
    }
  }
  for (const to of elseOf(task) ?? []) out.set(to, { ...(out.get(to) ?? { cases: [], when: "" }), other: true });
  return out;
}
