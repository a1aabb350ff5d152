// Which tasks a task can need, and why it cannot need the others.

import type { Task } from "../../domain/document/read";
import { reachable } from "../../domain/graph/model";

/** maxOffers bounds the list of a combobox: who has more tasks types some letters. */
export const maxOffers = 40;

/** Offer is a task in the list of those that can be needed. */
export interface Offer {
  readonly name: string;
  /** cycle is set where needing it would close a circle. */
  readonly cycle: boolean;
}

/** offersFor lists tasks that match the letters, those that cannot be chosen behind the others. */
export function offersFor(tasks: readonly Task[], own: Task, letters: string): { offers: Offer[]; more: number } {
  const below = reachable(tasks, own.name, "below");
  const wanted = letters.trim().toLowerCase();
  const seen = new Set<string>([own.name, "", ...own.needs]);
  const fit: Offer[] = [];
  const circles: Offer[] = [];
  for (const { name } of tasks) {
    if (seen.has(name) || !name.toLowerCase().includes(wanted)) continue;
    seen.add(name);
    (below.has(name) ? circles : fit).push({ name, cycle: below.has(name) });
  }
  // A name that begins with what was typed comes first.
  if (wanted !== "") fit.sort((a, b) => Number(b.name.toLowerCase().startsWith(wanted)) - Number(a.name.toLowerCase().startsWith(wanted)));
  const all = [...fit, ...circles];
  return { offers: all.slice(0, maxOffers), more: Math.max(0, all.length - maxOffers) };
}
