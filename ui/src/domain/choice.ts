import { branchNames, casesOf, elseOf } from "./document/branches";
import type { Task } from "./document/read";

// What a switch or conditions task chose in an instance, and by which values.

/** Way is one branch of a task, with whether it was taken; undefined while nothing is chosen. */
export interface Way {
  /** The number of the case from 1; undefined is else. */
  readonly n: number | undefined;
  readonly when: string;
  readonly then: readonly string[];
  readonly taken: boolean | undefined;
  /** Cases behind the taken one are not looked at. */
  readonly looked: boolean;
}

/** waysOf lists the branches of a task; choice is what it keeps as its choice: a case from 0, or else. */
export function waysOf(task: Pick<Task, "fields">, choice: string | undefined): Way[] {
  const cases = casesOf(task);
  const at = choice === undefined ? undefined : choice === "else" ? cases.length : Number(choice);
  const ways: Way[] = cases.map(({ when, then }, i) => ({
    n: i + 1,
    when,
    then,
    taken: at === undefined ? undefined : i === at,
    looked: at !== undefined && i <= at,
  }));
  const other = elseOf(task);
  if (other) ways.push({ n: undefined, when: "", then: other, taken: at === undefined ? undefined : at === cases.length, looked: true });
  return ways;
}

const words = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[\p{L}_][\p{L}\p{N}_]*/gu;

/** mentioned tells which of the names stand in any of the conditions, outside of quotes or as the name of a task in them. */
export function mentioned(conditions: readonly string[], names: readonly string[]): string[] {
  const said = new Set(conditions.flatMap((c) => (c.match(words) ?? []).map((w) => w.replace(/^["']|["']$/g, ""))));
  return [...new Set(names)].filter((n) => said.has(n));
}

/** chooserOf finds the tasks in whose branches a task stands. */
export function choosersOf(tasks: readonly Task[], name: string): Task[] {
  return tasks.filter((t) => branchNames(t).includes(name));
}
