// What each page keeps in its address. A value that is not understood is left out, so an
// old link opens the page instead of an error.

type Raw = Record<string, unknown>;

/** plain gives a value as it stands in the address: the router reads 1 as a number. */
function plain(raw: Raw, key: string): string | undefined {
  const v = raw[key];
  return typeof v === "string" || typeof v === "number" || typeof v === "boolean" ? String(v) : undefined;
}

function text(raw: Raw, key: string, max = 400): string | undefined {
  const v = plain(raw, key);
  return v !== undefined && v !== "" && v.length <= max ? v : undefined;
}

function oneOf<T extends string>(raw: Raw, key: string, allowed: readonly T[]): T | undefined {
  const v = plain(raw, key);
  return allowed.find((a) => a === v);
}

export const spans = ["1h", "24h", "7d", "any"] as const;
export type Span = (typeof spans)[number];

export interface InstancesSearch {
  st?: string; // states, comma-separated
  project?: string;
  workflow?: string;
  span?: Span;
}

export function instancesSearch(raw: Raw): InstancesSearch {
  return { st: text(raw, "st"), project: text(raw, "project"), workflow: text(raw, "workflow"), span: oneOf(raw, "span", spans) };
}

export const instanceTabs = ["graph", "gantt", "tasks", "params", "events"] as const;
export type InstanceTab = (typeof instanceTabs)[number];
export const streams = ["stdout", "stderr"] as const;

export interface InstanceSearch {
  tab?: InstanceTab;
  task?: string;
  attempt?: string;
  out?: (typeof streams)[number];
  line?: string;
  panel?: "log" | "why";
  problems?: "1";
  sort?: "start" | "graph" | "duration";
}

export function instanceSearch(raw: Raw): InstanceSearch {
  const number = (key: string) => {
    const v = text(raw, key, 9);
    return v !== undefined && /^[1-9]\d*$/.test(v) ? v : undefined;
  };
  return {
    tab: oneOf(raw, "tab", instanceTabs),
    task: text(raw, "task", 512),
    attempt: number("attempt"),
    out: oneOf(raw, "out", streams),
    line: number("line"),
    panel: oneOf(raw, "panel", ["log", "why"] as const),
    problems: oneOf(raw, "problems", ["1"] as const),
    sort: oneOf(raw, "sort", ["start", "graph", "duration"] as const),
  };
}

export const hubTabs = ["overview", "runs", "versions", "definition"] as const;

export interface HubSearch {
  tab?: (typeof hubTabs)[number];
  v?: string; // the version that is shown
  start?: "1"; // the start dialog is open
}

export function hubSearch(raw: Raw): HubSearch {
  const v = text(raw, "v", 9);
  return { tab: oneOf(raw, "tab", hubTabs), v: v && /^[1-9]\d*$/.test(v) ? v : undefined, start: oneOf(raw, "start", ["1"] as const) };
}
