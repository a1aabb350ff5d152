import { answer, api, type Instance } from "./client";
import type { PreviewedVerb, RerunScope } from "./queries";

// Every wish that the console writes.

export interface Wish {
  id: string;
  verb: PreviewedVerb;
  task?: string;
  scope?: RerunScope;
}

export function send(wish: Wish): Promise<Instance> {
  const { id, verb, task, scope } = wish;
  const one = { params: { path: { id } } };
  if (task !== undefined) {
    const of = { params: { path: { id, task } } };
    switch (verb) {
      case "kill":
        return answer(api.POST("/instances/{id}/tasks/{task}/kill", of));
      case "skip":
        return answer(api.POST("/instances/{id}/tasks/{task}/skip", of));
      default:
        return answer(api.POST("/instances/{id}/tasks/{task}/rerun", { ...of, body: { scope } }));
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
      return answer(api.POST("/instances/{id}/stop", { ...one, body: {} }));
    case "rerun":
      return answer(api.POST("/instances/{id}/rerun", { ...one, body: {} }));
  }
}

export interface StartWish {
  project: string;
  workflow: string;
  version?: number;
  params: Record<string, string>;
  key: string;
}

export function start(wish: StartWish) {
  return answer(
    api.POST("/projects/{project}/workflows/{workflow}/start", {
      // The key makes a second click on the same dialog the same start.
      params: { path: { project: wish.project, workflow: wish.workflow }, header: { "Idempotency-Key": wish.key } },
      body: { params: wish.params, version: wish.version },
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
