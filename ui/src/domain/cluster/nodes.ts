// Workers and masters, as the cluster page groups and judges them.

export interface Worked {
  name: string;
  groups: string[];
}

/** byGroup lists the workers of every group by name; one that serves several stands in each. */
export function byGroup<W extends Worked>(workers: readonly W[]): { group: string; workers: W[] }[] {
  const groups = new Map<string, W[]>();
  for (const w of workers) for (const g of w.groups) groups.set(g, [...(groups.get(g) ?? []), w]);
  return [...groups]
    .map(([group, list]) => ({ group, workers: list.toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true })) }))
    .toSorted((a, b) => a.group.localeCompare(b.group, "en", { numeric: true }));
}

/** usual is the version that most nodes have; of two that are as many, the higher. */
export function usual(versions: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const v of versions) counts.set(v, (counts.get(v) ?? 0) + 1);
  return [...counts].toSorted(([a, n], [b, m]) => m - n || b.localeCompare(a, "en", { numeric: true }))[0]?.[0];
}

export type Word = "heard" | "late" | "worrying" | "gone";

/** Silence is how long a node has said nothing, and how long until it is called gone. */
export interface Silence {
  word: Word;
  ms: number;
  left: number; // ms
}

/** silenceOf judges a node's last word; since is undefined where nothing is late. limit is how long it may say nothing. */
export function silenceOf(since: number | undefined, now: number, limit: number): Silence {
  if (since === undefined) return { word: "heard", ms: 0, left: limit };
  const ms = Math.max(0, now - since);
  const left = Math.max(0, limit - ms);
  return { word: left === 0 ? "gone" : ms >= limit / 2 ? "worrying" : "late", ms, left };
}

/** named says that the cause of a layout names a node: "m1 left, m2 joined"; m1 is not named by m10. */
export function named(cause: string, node: string): boolean {
  return cause.split(", ").some((part) => part.startsWith(`${node} `));
}

/** maxSamples is how many of a worker's loads are kept: a minute of them. */
const maxSamples = 60;
export type Samples = ReadonlyMap<string, readonly number[]>;

/** sampled adds what workers say of their load now; one that is gone, or another life of it, takes its samples with it. */
export function sampled(before: Samples, workers: readonly { name: string; incarnation: string; load?: number }[]): Samples {
  return new Map(
    workers.flatMap(({ name, incarnation, load }) => {
      const key = `${name} ${incarnation}`;
      return load === undefined ? [] : [[key, [...(before.get(key) ?? []), load].slice(-maxSamples)] as const];
    }),
  );
}
