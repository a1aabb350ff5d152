// How every state of the server looks: one table for lists, graph, Gantt and phone.
// A state that this table does not know is drawn grey with its raw name.

export type Hue = "success" | "running" | "failed" | "retry" | "killed" | "paused" | "queued" | "skipped";
export type Glyph = "check" | "play" | "cross" | "slash" | "loop" | "square" | "bars" | "hourglass" | "dots" | "hop" | "question";
export type Fill = "solid" | "ring" | "dashed" | "striped";

export interface Look {
  hue: Hue;
  glyph: Glyph;
  fill: Fill;
}

const look = (hue: Hue, glyph: Glyph, fill: Fill = "solid"): Look => ({ hue, glyph, fill });

const looks: Record<string, Look> = {
  // instances
  submitted: look("queued", "hourglass"),
  serial_wait: look("queued", "hourglass", "ring"),
  running: look("running", "play"),
  pausing: look("paused", "bars", "striped"),
  paused: look("paused", "bars"),
  stopping: look("killed", "square", "striped"),
  stopped: look("killed", "square"),
  failed: look("failed", "cross"),
  success: look("success", "check"),
  quarantined: look("failed", "question", "ring"),
  // tasks and attempts
  waiting: look("queued", "dots", "ring"),
  ready: look("queued", "hourglass"),
  dispatched: look("queued", "play", "ring"),
  retry_wait: look("retry", "loop"),
  killing: look("killed", "square", "striped"),
  forced_success: look("success", "check", "ring"),
  killed: look("killed", "square"),
  skipped: look("skipped", "hop", "dashed"),
  upstream_failed: look("failed", "slash", "dashed"),
  disabled: look("skipped", "slash", "dashed"),
  lost: look("retry", "question"),
  returned: look("queued", "loop", "ring"),
  // firings of timers
  calling: look("running", "play", "ring"),
  retry: look("retry", "loop"),
  // dates of backfills
  cancelled: look("killed", "square", "ring"),
  // fires of schedules
  planned: look("queued", "hourglass", "ring"),
  fired: look("success", "check"),
  late: look("retry", "hourglass"),
  missed: look("failed", "slash", "dashed"),
  duplicate: look("retry", "loop", "ring"),
};

const unknown = look("queued", "question", "ring");

export function lookOf(state: string): Look {
  return looks[state] ?? unknown;
}

export function isKnown(state: string): boolean {
  return state in looks;
}

export const instanceStates = [
  "failed",
  "running",
  "submitted",
  "serial_wait",
  "pausing",
  "paused",
  "stopping",
  "stopped",
  "quarantined",
  "success",
] as const;

const masters = new Set(["approval", "sub_workflow", "dynamic", "dependent", "switch", "conditions"]);

/** hasAbout tells the tasks that run in the master: they have no log, and something else to show in its place. */
export function hasAbout(type: string): boolean {
  return masters.has(type);
}

const restingInstance = new Set(["stopped", "failed", "success", "quarantined", "paused"]);
const finalTask = new Set(["success", "forced_success", "failed", "killed", "skipped", "upstream_failed", "disabled"]);
const troubled = new Set(["failed", "killed", "upstream_failed", "retry_wait", "killing", "quarantined"]);

/** isLive says that an instance's times still move. */
export function isLive(state: string): boolean {
  return !restingInstance.has(state);
}

export function isFinalTask(state: string): boolean {
  return finalTask.has(state);
}

export function isTrouble(state: string): boolean {
  return troubled.has(state);
}

export type InstanceVerb = "pause" | "resume" | "stop" | "recover" | "rerun" | "release";
export type TaskVerb = "kill" | "skip" | "force_success" | "rerun";

/** instanceVerbs are what an instance in a state can be asked for, the likeliest first. */
export function instanceVerbs(state: string): InstanceVerb[] {
  switch (state) {
    case "failed":
    case "stopped":
      return ["recover", "rerun"];
    case "success":
      return ["rerun"];
    case "quarantined":
      return ["release"];
    case "paused":
    case "pausing":
      return ["resume", "stop"];
    case "stopping":
      return ["stop"];
    case "submitted":
    case "serial_wait":
    case "running":
      return ["pause", "stop"];
    default:
      return [];
  }
}

const undone = new Set(["failed", "killed", "upstream_failed"]);

/** taskVerbs are what a task can be asked for, which depends on its instance too. */
export function taskVerbs(instance: string, task: string): TaskVerb[] {
  if (instance === "failed" || instance === "stopped") return undone.has(task) ? ["rerun", "force_success"] : ["rerun"];
  if (instance === "success") return ["rerun"];
  switch (task) {
    case "dispatched":
    case "running":
    case "killing":
      return ["kill"];
    case "waiting":
    case "ready":
    case "retry_wait":
      return ["skip", "force_success", "kill"];
    default:
      return [];
  }
}
