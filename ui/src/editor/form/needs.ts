// Which tasks a task can need or lead to, and why it cannot have the others.

import type { Task } from "../../domain/document/read";
import { reachable } from "../../domain/graph/model";

/** maxOffers bounds the list of a combobox: who has more tasks types some letters. */
export const maxOffers = 40;

/** Offer is a task in the list of those that can be chosen. */
export interface Offer {
  readonly name: string;
  /** cycle is set where choosing it would close a circle. */
  readonly cycle: boolean;
  /** adds is set where choosing it adds a need. */
  readonly adds?: boolean;
}

/** Offers are the first of those that match, and how many more there are. */
export interface Offers {
  readonly offers: readonly Offer[];
  readonly more: number;
}

/** offersFor lists the tasks that a task can need, those that cannot be chosen behind the others. */
export function offersFor(tasks: readonly Task[], own: Task, letters: string): Offers {
  const below = reachable(tasks, own.name, "below");
  const fitting = matching(tasks, [own.name, ...own.needs], letters);
  return first([...fitting.filter((n) => !below.has(n)), ...fitting.filter((n) => below.has(n))], (n) => ({ cycle: below.has(n) }));
}

/** branchOffers lists the tasks that a branch can lead to: those that need its task, then those that would need it from then on. */
export function branchOffers(tasks: readonly Task[], own: Task, chosen: readonly string[], letters: string): Offers {
  const above = reachable(tasks, own.name, "above");
  const next = new Set(tasks.filter((t) => t.needs.includes(own.name)).map((t) => t.name));
  const fitting = matching(tasks, [own.name, ...chosen], letters);
  const rank = (name: string) => (above.has(name) ? 2 : next.has(name) ? 0 : 1);
  const sorted = [0, 1, 2].flatMap((r) => fitting.filter((n) => rank(n) === r));
  return first(sorted, (n) => ({ cycle: above.has(n), adds: !above.has(n) && !next.has(n) }));
}

// The names that hold the letters, each once; one that begins with them comes first.
function matching(tasks: readonly Task[], out: readonly string[], letters: string): string[] {
  const wanted = letters.trim().toLowerCase();
  const seen = new Set(["", ...out]);
  const names = [...new Set(tasks.map((t) => t.name))].filter((n) => !seen.has(n) && n.toLowerCase().includes(wanted));
  const begins = (name: string) => wanted !== "" && name.toLowerCase().startsWith(wanted);
  return [...names.filter(begins), ...names.filter((n) => !begins(n))];
}

function first(names: readonly string[], about: (name: string) => Omit<Offer, "name">): Offers {
  return { offers: names.slice(0, maxOffers).map((name) => ({ name, ...about(name) })), more: Math.max(0, names.length - maxOffers) };
}
