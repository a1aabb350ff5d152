import { isDay } from "./domain/schedule/days";
import { type HubSearch, hubSearch, oneOf, type Raw, text } from "./search";
import { type GridSearch, gridSearch } from "./searchGrid";

// What the pages of schedules keep in their addresses.

const flag = ["1"] as const;
export const standings = ["on", "off", "bad"] as const;
export type Standing = (typeof standings)[number];

export const scheduleActs = ["edit", "pause", "trigger", "delete"] as const;
export type ScheduleAct = (typeof scheduleActs)[number];

/** HeatSearch is the week of all schedules, hour by hour. */
export interface HeatSearch {
  heat?: "map" | "table";
  week?: string; // the first of its days
  hour?: string; // the hour that is open: 2026-03-29T02
  num?: "1"; // counts are in the cells
}

export function heatSearch(raw: Raw): HeatSearch {
  const week = text(raw, "week", 10) ?? "";
  const hour = text(raw, "hour", 13) ?? "";
  return {
    heat: oneOf(raw, "heat", ["map", "table"] as const),
    week: isDay(week) ? week : undefined,
    hour: isDay(hour.slice(0, 10)) && /^T([01]\d|2[0-3])$/.test(hour.slice(10)) ? hour : undefined,
    num: oneOf(raw, "num", flag),
  };
}

export interface SchedulesSearch extends HeatSearch {
  q?: string; // what the list is filtered by
  w?: string; // the workflow
  is?: Standing; // enabled, paused, or with a last fire that started nothing
  new?: "1";
  all?: "pause" | "resume"; // the dialog about all that match
  do?: ScheduleAct; // the dialog about the one whose id is
  id?: string;
  // What the form of a new backfill begins with:
  by?: string; // the schedule whose dates and parameters they are
  first?: string; // days
  last?: string;
  down?: "1"; // also what waits for the workflow
}

export function schedulesSearch(raw: Raw): SchedulesSearch {
  return {
    ...heatSearch(raw),
    q: text(raw, "q"),
    w: text(raw, "w", 512),
    is: oneOf(raw, "is", standings),
    new: oneOf(raw, "new", flag),
    all: oneOf(raw, "all", ["pause", "resume"] as const),
    do: oneOf(raw, "do", scheduleActs),
    id: text(raw, "id", 20),
    by: text(raw, "by", 128),
    first: day(raw, "first"),
    last: day(raw, "last"),
    down: oneOf(raw, "down", flag),
  };
}

function day(raw: Raw, key: string): string | undefined {
  const found = text(raw, key, 10);
  return found !== undefined && isDay(found) ? found : undefined;
}

/** WorkflowSearch is the address of a workflow, whose schedules and grid have tabs of their own. */
export type WorkflowSearch = HubSearch & SchedulesSearch & GridSearch;

export function workflowSearch(raw: Raw): WorkflowSearch {
  return { ...schedulesSearch(raw), ...gridSearch(raw), ...hubSearch(raw) };
}

export const spans = ["year", "month"] as const;

export interface ScheduleSearch {
  span?: (typeof spans)[number];
  month?: string; // that is shown, or of the year that is
  day?: string; // whose fires are shown
  do?: ScheduleAct; // the dialog that is open
  run?: string; // the dialog that runs fires which were left out: a moment, or "missed" for all of the day or the span
}

export function scheduleSearch(raw: Raw): ScheduleSearch {
  const month = text(raw, "month", 7) ?? "";
  const day = text(raw, "day", 10) ?? "";
  const run = text(raw, "run", 32) ?? "";
  return {
    span: oneOf(raw, "span", spans),
    month: isDay(`${month}-01`) ? month : undefined,
    day: isDay(day) ? day : undefined,
    do: oneOf(raw, "do", scheduleActs),
    run: run === "missed" || !Number.isNaN(Date.parse(run)) ? run : undefined,
  };
}

export const timerActs = ["edit", "delete"] as const;
export type TimerAct = (typeof timerActs)[number];

export interface TimersSearch {
  q?: string; // what the list is filtered by
  id?: string; // the timer that is open
  new?: "1"; // the form of a new one is
  do?: TimerAct; // the dialog about the one whose id is
}

export function timersSearch(raw: Raw): TimersSearch {
  const id = text(raw, "id", 19);
  return {
    q: text(raw, "q"),
    id: id !== undefined && /^[1-9]\d*$/.test(id) ? id : undefined,
    new: oneOf(raw, "new", flag),
    do: oneOf(raw, "do", timerActs),
  };
}
