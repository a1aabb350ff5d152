import { oneOf, type Raw, text } from "./search";
import { type HeatSearch, heatSearch } from "./searchSchedule";

// What the pages of tasks, listeners, settings, lineage and administration keep in their addresses.

const flag = ["1"] as const;

export interface TodaySearch {
  acknowledged?: "1"; // the failures that somebody looks after are shown, too
}

export function todaySearch(raw: Raw): TodaySearch {
  return { acknowledged: oneOf(raw, "acknowledged", flag) };
}

export const taskSides = ["running", "waiting"] as const;
export type TaskSide = (typeof taskSides)[number];
export const olderSpans = ["usual", "1m", "10m", "1h", "6h", "24h"] as const;

export interface TasksSearch {
  is?: TaskSide;
  project?: string;
  workflow?: string;
  worker?: string;
  group?: string; // of workers
  places?: string; // the task group
  q?: string; // a part of the task's name
  st?: string; // one state
  older?: (typeof olderSpans)[number];
}

export function tasksSearch(raw: Raw): TasksSearch {
  const state = text(raw, "st", 20);
  return {
    is: oneOf(raw, "is", taskSides),
    project: text(raw, "project"),
    workflow: text(raw, "workflow"),
    worker: text(raw, "worker", 200),
    group: text(raw, "group", 200),
    places: text(raw, "places", 200),
    q: text(raw, "q", 200),
    st: state !== undefined && /^[a-z_]+$/.test(state) ? state : undefined,
    older: oneOf(raw, "older", olderSpans),
  };
}

export interface ListenersSearch {
  new?: "1";
  edit?: string;
  delete?: string;
  open?: string; // whose deliveries are shown
  st?: "dead" | "due" | "idle"; // of those
}

export function listenersSearch(raw: Raw): ListenersSearch {
  return {
    new: oneOf(raw, "new", flag),
    edit: text(raw, "edit"),
    delete: text(raw, "delete"),
    open: text(raw, "open"),
    st: oneOf(raw, "st", ["dead", "due", "idle"] as const),
  };
}

export const settingsTabs = ["params", "secrets", "environments", "groups", "calendars"] as const;
export type SettingsTab = (typeof settingsTabs)[number];

export interface SettingsSearch {
  tab?: SettingsTab;
  new?: "1";
  edit?: string;
  delete?: string;
  open?: string; // the task group whose holders are shown
}

export function settingsSearch(raw: Raw): SettingsSearch {
  return {
    tab: oneOf(raw, "tab", settingsTabs),
    new: oneOf(raw, "new", flag),
    edit: text(raw, "edit"),
    delete: text(raw, "delete"),
    open: text(raw, "open"),
  };
}

export const adminTabs = ["users", "audit", "secrets", "environments", "about"] as const;
export type AdminTab = (typeof adminTabs)[number];
export const outcomes = ["done", "failed", "refused"] as const;

export interface AdminSearch {
  tab?: AdminTab;
  new?: "1";
  edit?: string;
  delete?: string;
  open?: string; // the user whose sessions and tokens are shown
  actor?: string; // the filters of the audit
  action?: string;
  object?: string;
  outcome?: (typeof outcomes)[number];
}

export function adminSearch(raw: Raw): AdminSearch {
  return {
    tab: oneOf(raw, "tab", adminTabs),
    new: oneOf(raw, "new", flag),
    edit: text(raw, "edit"),
    delete: text(raw, "delete"),
    open: text(raw, "open"),
    actor: text(raw, "actor", 200),
    action: text(raw, "action", 100),
    object: text(raw, "object", 200),
    outcome: oneOf(raw, "outcome", outcomes),
  };
}

export interface LineageSearch {
  project?: string;
  at?: string; // the chosen workflow, as project/workflow
  as?: "list";
}

export function lineageSearch(raw: Raw): LineageSearch {
  return { project: text(raw, "project"), at: text(raw, "at"), as: oneOf(raw, "as", ["list"] as const) };
}

export interface AllSchedulesSearch extends HeatSearch {
  q?: string;
  is?: "on" | "off" | "bad";
  project?: string;
}

export function allSchedulesSearch(raw: Raw): AllSchedulesSearch {
  return { ...heatSearch(raw), q: text(raw, "q"), is: oneOf(raw, "is", ["on", "off", "bad"] as const), project: text(raw, "project") };
}

export const resourceKinds = ["worker-groups", "task-groups", "environments", "secrets"] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface ResourcesSearch {
  kind?: ResourceKind;
  q?: string;
  open?: string; // project/name of the one whose users are shown
}

export function resourcesSearch(raw: Raw): ResourcesSearch {
  return { kind: oneOf(raw, "kind", resourceKinds), q: text(raw, "q"), open: text(raw, "open") };
}
