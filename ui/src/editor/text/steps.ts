// What a step of the history did to the text, for an editor that shows the text.

import { applySplices, differ, type Splice } from "../../domain/document/text";
import type { Entry, History } from "../../domain/history/history";

/**
 * stepsBetween answers the splices that lead from one history's text to the next one's, one set
 * after the other. They are the smallest that are known, so that a caret between them stays.
 */
export function stepsBetween(before: History, after: History): readonly (readonly Splice[])[] {
  if (before.text === after.text) return [];
  const sets = known(before, after);
  let text = before.text;
  try {
    for (const set of sets) text = applySplices(text, set);
  } catch {
    text = "";
  }
  return text === after.text ? sets : [differ(before.text, after.text)];
}

/** cause is the entry that was undone, redone or made between two histories. */
export function cause(before: History, after: History): Entry | undefined {
  const undone = after.future.length > before.future.length ? after.future[0] : undefined;
  return undone ?? after.past.at(-1);
}

function known(before: History, after: History): (readonly Splice[])[] {
  const entry = cause(before, after);
  if (!entry) return [];
  if (after.future.length > before.future.length) return entry.back.map((s) => s.splices);
  if (before.future[0] === entry) return entry.forward.map((s) => s.splices);
  return entry.forward.slice(-1).map((s) => s.splices);
}
