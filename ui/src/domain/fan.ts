// How far the items of a dynamic task are.

/** Fan is a fan-out by the states of its items. */
export interface Fan {
  /** made is how many have their child. */
  readonly made: number;
  readonly items: number;
  /** By state, what is in trouble first; those without a child are not among them. */
  readonly counts: readonly (readonly [state: string, count: number])[];
}

const order = ["failed", "quarantined", "killed", "stopped", "running"];
const rank = (state: string) => (order.indexOf(state) < 0 ? order.length : order.indexOf(state));

/** byTrouble orders counts by state, what is in trouble first. */
export function byTrouble(counts: Iterable<readonly [string, number]>): (readonly [string, number])[] {
  return [...counts].sort(([a], [b]) => rank(a) - rank(b));
}

/** fanOf counts the items of a dynamic task; undefined for any other, and before its list is known. */
export function fanOf(items: number | undefined, states: Readonly<Record<string, number>> | undefined): Fan | undefined {
  if (!items || !states) return undefined;
  const counts = byTrouble(Object.entries(states).filter(([state, n]) => state !== "waiting" && n > 0));
  return { made: counts.reduce((sum, [, n]) => sum + n, 0), items, counts };
}
