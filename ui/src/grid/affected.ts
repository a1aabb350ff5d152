import { ApiError, answer, api } from "../api/client";
import { send } from "../api/commands";
import { previewRerun, rerunTasks, type Scope } from "../api/grid";
import type { Chosen } from "../domain/grid/choice";

// What is asked of chosen cells, instance by instance: first what each would do, by the server's own previews, then the
// wish itself with the token of what was looked at.

export type CellVerb = "rerun" | "force_success";

/** Affected is what a wish would do in one instance; error and refused say why it can't be asked. */
export interface Affected {
  id: string;
  tasks: string[]; // that were chosen
  changes: string[]; // the tasks that would run again, or change
  token: string;
  refused: string | undefined; // a result of the server's preview
  error: unknown;
}

/** Wish is one thing to ask for: a rerun takes all chosen tasks of an instance at once, a success is forced task by task. */
export function wishes(verb: CellVerb, chosen: Chosen[]): Chosen[] {
  return verb === "rerun" ? chosen : chosen.flatMap(({ id, tasks }) => tasks.map((task) => ({ id, tasks: [task] })));
}

export async function look(verb: CellVerb, scope: Scope, { id, tasks }: Chosen): Promise<Affected> {
  const nothing = { id, tasks, changes: [], token: "", refused: undefined, error: undefined };
  try {
    if (verb === "rerun") {
      const p = await previewRerun(id, tasks, scope);
      return { ...nothing, changes: p.tasks.filter((x) => x.action === "run").map((x) => x.task), token: p.token };
    }
    const task = tasks[0] ?? "";
    const p = await answer(api.GET("/instances/{id}/preview", { params: { path: { id }, query: { verb, task } } }));
    const refused = p.result === "applied" || p.result === "already" ? undefined : p.result;
    return { ...nothing, changes: p.tasks.map((x) => x.name), token: p.token, refused };
  } catch (error) {
    return { ...nothing, error };
  }
}

export async function ask(verb: CellVerb, scope: Scope, { id, tasks, token }: Affected): Promise<void> {
  if (verb === "rerun") await rerunTasks(id, tasks, scope, token);
  else await send({ id, verb, task: tasks[0], preview: token });
}

export function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409 && error.fields.some((f) => f.field === "preview" && f.code === "stale");
}

/** abreast is how many requests are under way at once: a browser has six connections to a host, and the page needs some. */
const abreast = 3;

/** inTurn does the same for many, a few at a time, in their order. */
export async function inTurn<T>(all: readonly T[], one: (item: T, index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < all.length; at = next++) {
      const item = all[at];
      if (item !== undefined) await one(item, at);
    }
  };
  await Promise.all(Array.from({ length: Math.min(abreast, all.length) }, lane));
}
