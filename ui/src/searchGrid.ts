import { isDay } from "./domain/schedule/days";
import { instanceSearch, oneOf, type Raw, type TaskSearch, text } from "./search";

// What the grid of a workflow keeps in its address, beside what the page of the workflow does.

export const gridStates = ["failed", "running"] as const;
export const gridCounts = ["30", "60", "100"] as const;

/** GridSearch has the open task in the same words as an instance's page has it; without an instance it is the task's history. */
export interface GridSearch extends TaskSearch {
  run?: string; // the instance whose task is open
  only?: (typeof gridStates)[number]; // the instances that are shown
  n?: (typeof gridCounts)[number];
  until?: string; // the last day whose instances are shown
  cells?: string; // those that are chosen, as domain/grid/choice.ts writes them
}

export function gridSearch(raw: Raw): GridSearch {
  const { task, attempt, out, line, full, panel } = instanceSearch(raw);
  const run = text(raw, "run", 19);
  const until = text(raw, "until", 10) ?? "";
  return {
    task,
    attempt,
    out,
    line,
    full,
    panel,
    run: run !== undefined && /^[1-9]\d*$/.test(run) ? run : undefined,
    only: oneOf(raw, "only", gridStates),
    n: oneOf(raw, "n", gridCounts),
    until: isDay(until) ? until : undefined,
    cells: text(raw, "cells", 1500),
  };
}
