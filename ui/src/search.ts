// What each page keeps in its address. A value that is not understood is left out, so an
// old link opens the page instead of an error.

export type Raw = Record<string, unknown>;

/** plain gives a value as it stands in the address: the router reads 1 as a number. */
function plain(raw: Raw, key: string): string | undefined {
  const v = raw[key];
  return typeof v === "string" || typeof v === "number" || typeof v === "boolean" ? String(v) : undefined;
}

/** text is a short value as it stands in the address. */
export function text(raw: Raw, key: string, max = 400): string | undefined {
  const v = plain(raw, key);
  return v !== undefined && v !== "" && v.length <= max ? v : undefined;
}

/** oneOf is a value that is one of those allowed. */
export function oneOf<T extends string>(raw: Raw, key: string, allowed: readonly T[]): T | undefined {
  const v = plain(raw, key);
  return allowed.find((a) => a === v);
}

export const spans = ["1h", "24h", "7d", "any"] as const;
export type Span = (typeof spans)[number];

/** triggers are what may start an instance. */
export const triggers = ["manual", "schedule", "end", "webhook", "backfill", "child", "rerun"] as const;

export interface InstancesSearch {
  st?: string; // states, comma-separated
  project?: string;
  workflow?: string;
  span?: Span;
  from?: string; // RFC 3339; with to, instead of span
  to?: string;
  v?: string; // a version of the workflow
  by?: string;
  param?: string; // a part of name=value
  longer?: string; // 90s 10m 2h
  trigger?: (typeof triggers)[number]; // what started it
  late?: "1"; // only what runs for longer than ever
  worker?: string; // who had an attempt of it
}

export function instancesSearch(raw: Raw): InstancesSearch {
  const time = (key: string) => {
    const v = text(raw, key, 40);
    return v !== undefined && !Number.isNaN(Date.parse(v)) ? v : undefined;
  };
  const matching = (key: string, pattern: RegExp) => {
    const v = text(raw, key, 20);
    return v !== undefined && pattern.test(v) ? v : undefined;
  };
  return {
    st: text(raw, "st"),
    project: text(raw, "project"),
    workflow: text(raw, "workflow"),
    span: oneOf(raw, "span", spans),
    from: time("from"),
    to: time("to"),
    v: matching("v", /^[1-9]\d{0,8}$/),
    by: text(raw, "by", 200),
    param: text(raw, "param", 200),
    longer: matching("longer", /^[1-9]\d*[smh]$/),
    trigger: oneOf(raw, "trigger", triggers),
    late: oneOf(raw, "late", ["1"]),
    worker: text(raw, "worker", 255),
  };
}

export const instanceTabs = ["graph", "gantt", "tasks", "params", "events", "related", "compare"] as const;
export type InstanceTab = (typeof instanceTabs)[number];
export const streams = ["stdout", "stderr"] as const;

export const taskPanels = ["log", "about", "attempts", "values", "why"] as const;

export interface InstanceSearch {
  tab?: InstanceTab;
  task?: string;
  attempt?: string;
  out?: (typeof streams)[number];
  line?: string; // one, or a range
  full?: "1"; // the log has the whole window
  panel?: (typeof taskPanels)[number];
  inside?: string; // the children that are open inside the one of a task, by their ids, and what is chosen there
  with?: string; // the instance that this one is compared with
  zoom?: string; // of the Gantt chart: two moments in ms, a dash between
  ev?: string; // a part of what an event says
  problems?: "1" | "0";
  sort?: "start" | "graph" | "duration";
}

/** TaskSearch is what of an address says which task is open, and what of it. */
export type TaskSearch = Pick<InstanceSearch, "task" | "attempt" | "out" | "line" | "full" | "panel" | "inside">;

export function instanceSearch(raw: Raw): InstanceSearch {
  const number = (key: string) => {
    const v = text(raw, key, 9);
    return v !== undefined && /^[1-9]\d*$/.test(v) ? v : undefined;
  };
  const id = (key: string) => {
    const v = text(raw, key, 19);
    return v !== undefined && /^[1-9]\d*$/.test(v) ? v : undefined;
  };
  return {
    tab: oneOf(raw, "tab", instanceTabs),
    task: text(raw, "task", 512),
    attempt: number("attempt"),
    out: oneOf(raw, "out", streams),
    line: lines(text(raw, "line", 19)),
    full: oneOf(raw, "full", ["1"] as const),
    panel: oneOf(raw, "panel", taskPanels),
    inside: text(raw, "inside", 700),
    with: id("with"),
    zoom: /^\d{10,16}-\d{10,16}$/.test(text(raw, "zoom", 40) ?? "") ? text(raw, "zoom", 40) : undefined,
    ev: text(raw, "ev", 200),
    problems: oneOf(raw, "problems", ["1", "0"] as const),
    sort: oneOf(raw, "sort", ["start", "graph", "duration"] as const),
  };
}

function lines(v: string | undefined): string | undefined {
  return v !== undefined && /^[1-9]\d*(-[1-9]\d*)?$/.test(v) ? v : undefined;
}

export const hubTabs = ["overview", "grid", "runs", "schedules", "backfills", "versions", "definition"] as const;

export const diffViews = ["fields", "graph", "text"] as const;

export interface HubSearch {
  tab?: (typeof hubTabs)[number];
  v?: string; // the version that is shown
  start?: "1"; // the start dialog is open
  from?: string; // the versions that are compared
  to?: string;
  as?: (typeof diffViews)[number];
}

function version(raw: Raw, key: string, draft: boolean): string | undefined {
  const v = text(raw, key, 9);
  return v !== undefined && (/^[1-9]\d*$/.test(v) || (draft && v === "draft")) ? v : undefined;
}

export function hubSearch(raw: Raw): HubSearch {
  return {
    tab: oneOf(raw, "tab", hubTabs),
    v: version(raw, "v", false),
    start: oneOf(raw, "start", ["1"] as const),
    from: version(raw, "from", false),
    to: version(raw, "to", true),
    as: oneOf(raw, "as", diffViews),
  };
}

export const editorViews = ["canvas", "split", "text", "list"] as const;
export type EditorView = (typeof editorViews)[number];

export interface EditorSearch {
  view?: EditorView;
  new?: "1"; // the workflow does not exist yet
  task?: string; // the task whose form is open
  tab?: string; // the part of its form
  q?: string; // the filter of the list
  sort?: "name" | "depth"; // the order of the list, else that of the text
  run?: string; // the instance whose states are shown
  test?: "1"; // the test cases are open
}

export function editorSearch(raw: Raw): EditorSearch {
  return {
    view: oneOf(raw, "view", editorViews),
    new: oneOf(raw, "new", ["1"] as const),
    task: text(raw, "task", 512),
    tab: text(raw, "tab", 40),
    q: text(raw, "q"),
    sort: oneOf(raw, "sort", ["name", "depth"] as const),
    run: text(raw, "run", 20),
    test: oneOf(raw, "test", ["1"] as const),
  };
}
