import { isDay } from "./domain/schedule/days";
import { type HubSearch, hubSearch, oneOf, type Raw, text } from "./search";

// What the pages of schedules keep in their addresses.

const flag = ["1"] as const;
export const standings = ["on", "off", "bad"] as const;
export type Standing = (typeof standings)[number];

export const scheduleActs = ["edit", "pause", "trigger", "delete"] as const;
export type ScheduleAct = (typeof scheduleActs)[number];

export interface SchedulesSearch {
  q?: string; // what the list is filtered by
  w?: string; // the workflow
  is?: Standing; // enabled, paused, or with a last fire that started nothing
  new?: "1";
  all?: "pause" | "resume"; // the dialog about all that match
  do?: ScheduleAct; // the dialog about the one whose id is
  id?: string;
}

export function schedulesSearch(raw: Raw): SchedulesSearch {
  return {
    q: text(raw, "q"),
    w: text(raw, "w", 512),
    is: oneOf(raw, "is", standings),
    new: oneOf(raw, "new", flag),
    all: oneOf(raw, "all", ["pause", "resume"] as const),
    do: oneOf(raw, "do", scheduleActs),
    id: text(raw, "id", 20),
  };
}

/** WorkflowSearch is the address of a workflow, whose schedules have a tab of their own. */
export type WorkflowSearch = HubSearch & SchedulesSearch;

export function workflowSearch(raw: Raw): WorkflowSearch {
  return { ...schedulesSearch(raw), ...hubSearch(raw) };
}

export const spans = ["year", "month"] as const;

export interface ScheduleSearch {
  span?: (typeof spans)[number];
  month?: string; // that is shown, or of the year that is
  day?: string; // whose fires are shown
  do?: ScheduleAct; // the dialog that is open
}

export function scheduleSearch(raw: Raw): ScheduleSearch {
  const month = text(raw, "month", 7) ?? "";
  const day = text(raw, "day", 10) ?? "";
  return {
    span: oneOf(raw, "span", spans),
    month: isDay(`${month}-01`) ? month : undefined,
    day: isDay(day) ? day : undefined,
    do: oneOf(raw, "do", scheduleActs),
  };
}

export interface TimersSearch {
  q?: string; // what the list is filtered by
  id?: string; // the timer that is open
}

export function timersSearch(raw: Raw): TimersSearch {
  const id = text(raw, "id", 19);
  return { q: text(raw, "q"), id: id !== undefined && /^[1-9]\d*$/.test(id) ? id : undefined };
}
