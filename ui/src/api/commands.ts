import { answer, api, type Instance } from "./client";
import type { PreviewedVerb, RerunScope } from "./queries";

// Every wish that the console writes.

export interface Wish {
  id: string;
  verb: PreviewedVerb;
  task?: string;
  scope?: RerunScope;
  force?: boolean;
  preview?: string; // the token of what the person looked at
}

/** send asks for a verb; with preview it is refused (409) where it would do something else by now. */
export function send(wish: Wish): Promise<Instance> {
  const { id, verb, task, scope, preview } = wish;
  const body = { preview };
  const one = { params: { path: { id } }, body };
  if (task !== undefined) {
    const of = { params: { path: { id, task } }, body };
    switch (verb) {
      case "kill":
        return answer(api.POST("/instances/{id}/tasks/{task}/kill", of));
      case "skip":
        return answer(api.POST("/instances/{id}/tasks/{task}/skip", of));
      case "force_success":
        return answer(api.POST("/instances/{id}/tasks/{task}/force-success", of));
      default:
        return answer(api.POST("/instances/{id}/tasks/{task}/rerun", { ...of, body: { scope, preview } }));
    }
  }
  switch (verb) {
    case "pause":
      return answer(api.POST("/instances/{id}/pause", one));
    case "resume":
      return answer(api.POST("/instances/{id}/resume", one));
    case "recover":
      return answer(api.POST("/instances/{id}/recover", one));
    case "stop":
    case "kill":
    case "skip":
    case "force_success":
      return answer(api.POST("/instances/{id}/stop", { ...one, body: { preview, force: wish.force } }));
    case "rerun":
      return answer(api.POST("/instances/{id}/rerun", one));
  }
}

/** release lets masters work again on an instance that was set aside. */
export function release(id: string): Promise<Instance> {
  return answer(api.POST("/instances/{id}/release-quarantine", { params: { path: { id } } }));
}

/** rerunAnew starts a new instance that repeats another with other parameters or another version. */
export function rerunAnew(id: string, version: number, params: Record<string, string>): Promise<Instance> {
  return answer(api.POST("/instances/{id}/rerun", { params: { path: { id } }, body: { version, params } }));
}

/** acknowledge says that a failure is seen; only the one that the person has looked at. */
export function acknowledge({ id, round }: Instance, note: string): Promise<Instance> {
  return answer(api.PUT("/instances/{id}/acknowledgement", { params: { path: { id } }, body: { round, note } }));
}

/** unacknowledge takes that back. */
export function unacknowledge({ id }: Instance) {
  return answer(api.DELETE("/instances/{id}/acknowledgement", { params: { path: { id } } }));
}

export type BulkVerb = "pause" | "resume" | "stop" | "recover" | "rerun";

/** sendBulk asks the same of up to 100 instances; the same request twice does no more than once. */
export async function sendBulk(verb: BulkVerb, instances: { id: string; round: number }[], force: boolean) {
  return (await answer(api.POST("/instances/bulk", { body: { verb, instances, force } }))).items;
}

export interface StartWish {
  project: string;
  workflow: string;
  version?: number;
  params: Record<string, string>;
  key: string;
  from?: { tasks: string[]; scope: RerunScope };
  dryRun?: boolean;
}

export function start(wish: StartWish) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/start", {
      // The key makes a second click on the same dialog the same start.
      params: { path: { project: wish.project, workflow: wish.workflow }, header: { "Idempotency-Key": wish.key } },
      body: {
        params: wish.params,
        version: wish.version,
        ...(wish.from && { start_tasks: wish.from.tasks, scope: wish.from.scope }),
        ...(wish.dryRun && { dry_run: true }),
      },
    }),
  );
}

export function publish(project: string, workflow: string, version: number) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/publish", { params: { path: { project, workflow } }, body: { version } }),
  );
}

export function signIn(user: string, password: string) {
  return answer(api.POST("/session", { body: { user, password } }));
}

export function signOut() {
  return answer(api.DELETE("/session"));
}
