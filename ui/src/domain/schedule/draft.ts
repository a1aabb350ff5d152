import { blank, byClock, type Rules, rulesOf, type When, whenOf } from "./when";

// A schedule as its form holds it: every field a text, so that what is half written stays as it was typed.

export const misfires = ["latest", "all", "none"] as const;
export const overlaps = ["allow", "wait", "skip", "replace"] as const;
export const excludeds = ["skip", "next", "previous"] as const;
export const priorities = ["highest", "high", "medium", "low", "lowest"] as const;

export interface Draft {
  name: string;
  workflow: string;
  when: When;
  timezone: string;
  start: string;
  end: string;
  skip: string[];
  only: string[];
  excluded: (typeof excludeds)[number];
  misfire: (typeof misfires)[number];
  max: string;
  maxAge: string;
  grace: string;
  overlap: (typeof overlaps)[number];
  jitter: string;
  params: Record<string, string>; // what stands in a field; a parameter without one is as declared
  workerGroup: string;
  priority: (typeof priorities)[number] | "";
}

type Value = string | number | boolean | unknown[];

/** Document is what a draft is made of and becomes; keys that the form has no field for go through it. */
export interface Document extends Rules {
  timezone?: string;
  start?: string;
  end?: string;
  calendar?: { skip?: string[] | null; only?: string[] | null; excluded?: Draft["excluded"] };
  misfire?: { policy: Draft["misfire"]; max?: number; max_age?: string; grace?: string };
  overlap?: Draft["overlap"];
  jitter?: string;
  params?: Record<string, Value>;
  worker_group?: string;
  priority?: (typeof priorities)[number];
  on_failure?: "continue" | "end" | "compensate";
  dry_run?: boolean;
}

/** fresh is the draft of a schedule that is not there yet. */
export function fresh(workflow: string, timezone: string): Draft {
  return { ...draftOf({ timezone }), when: blank, workflow };
}

export function draftOf(d: Document & { name?: string; workflow?: string }): Draft {
  return {
    name: d.name ?? "",
    workflow: d.workflow ?? "",
    when: whenOf(d),
    timezone: d.timezone ?? "UTC",
    start: d.start ?? "",
    end: d.end ?? "",
    skip: d.calendar?.skip ?? [],
    only: d.calendar?.only ?? [],
    excluded: d.calendar?.excluded ?? "skip",
    misfire: d.misfire?.policy ?? "latest",
    max: d.misfire?.max ? String(d.misfire.max) : "",
    maxAge: d.misfire?.max_age ?? "",
    grace: d.misfire?.grace ?? "",
    overlap: d.overlap ?? "allow",
    jitter: d.jitter ?? "",
    params: paramTexts(d.params),
    workerGroup: d.worker_group ?? "",
    priority: d.priority ?? "",
  };
}

/** paramTexts are parameters as fields show them. */
export function paramTexts(params: Record<string, Value> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, shownValue(value)]));
}

function shownValue(value: Value): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** documentOf is what a draft says; was is the document that it was made of. */
export function documentOf(draft: Draft, was: Document = {}): Document {
  const out: Document = { ...rulesOf(draft.when), ...filled({ timezone: draft.timezone, worker_group: draft.workerGroup }) };
  if (draft.priority !== "") out.priority = draft.priority;
  if (draft.overlap !== "allow") out.overlap = draft.overlap;
  if (was.on_failure !== undefined) out.on_failure = was.on_failure;
  if (was.dry_run) out.dry_run = true;
  const params: Record<string, Value> = {};
  for (const [name, text] of Object.entries(draft.params)) {
    const before = was.params?.[name];
    params[name] = before !== undefined && shownValue(before) === text ? before : text;
  }
  if (Object.keys(params).length > 0) out.params = params;
  // An end or a call is on no day and never late: the server refuses what is about moments.
  return byClock(draft.when) ? { ...out, ...ofMoments(draft) } : out;
}

function ofMoments(draft: Draft): Document {
  const out: Document = filled({ start: draft.start, end: draft.end, jitter: draft.jitter });
  if (draft.skip.length + draft.only.length > 0) {
    out.calendar = {
      ...(draft.skip.length > 0 && { skip: draft.skip }),
      ...(draft.only.length > 0 && { only: draft.only }),
      ...(draft.excluded !== "skip" && { excluded: draft.excluded }),
    };
  }
  const limits = filled({ max_age: draft.maxAge, grace: draft.grace });
  const max = draft.misfire === "all" && /^\d+$/.test(draft.max.trim()) ? Number(draft.max) : undefined;
  if (draft.misfire !== "latest" || Object.keys(limits).length > 0) {
    out.misfire = { policy: draft.misfire, ...(max !== undefined && { max }), ...limits };
  }
  return out;
}

/** filled leaves out what stands empty. */
function filled<T extends Record<string, string>>(texts: T): Partial<T> {
  const out: Partial<T> = {};
  for (const key of Object.keys(texts) as (keyof T)[]) if (texts[key]?.trim()) out[key] = texts[key].trim() as T[keyof T]; // a text stays one
  return out;
}
