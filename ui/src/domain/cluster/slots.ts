// Who has which command slots, as the map and the table of the cluster page show it.

/** SlotView is a layout as the server's pulse tells of it. */
export interface SlotView {
  members: string[];
  owners: number[]; // by place in members; -1: nobody
  overloaded?: number[]; // slots whose master has no room
  preparing?: { members: string[]; owners: number[] };
}

/** Cell is one slot: whose it is, and whose it is about to be. */
export interface Cell {
  slot: number;
  owner: string | undefined;
  next: string | undefined; // set while it moves
  full: boolean; // its owner has no room for its commands
}

export function cellsOf(view: SlotView): Cell[] {
  const full = new Set(view.overloaded);
  return view.owners.map((at, slot) => {
    const owner = at < 0 ? undefined : view.members[at];
    const to = view.preparing?.owners[slot];
    const next = to === undefined || to < 0 ? undefined : view.preparing?.members[to];
    return { slot, owner, next: next === owner ? undefined : next, full: owner !== undefined && full.has(slot) };
  });
}

/** Marks are the places of masters among the letters and looks: a master keeps its own for as long as the page lives. */
export type Marks = ReadonlyMap<string, number>;

/** marksOf gives every name a mark; who has one keeps it, and the marks of those who are gone stay theirs. */
export function marksOf(known: Marks, names: readonly string[]): Marks {
  const fresh = [...new Set(names)].filter((name) => !known.has(name)).toSorted();
  if (fresh.length === 0) return known;
  const all = new Map(known);
  for (const name of fresh) all.set(name, all.size);
  return all;
}

/** letterOf is A to Z, then AA, AB ... */
export function letterOf(mark: number): string {
  const last = String.fromCharCode(65 + (mark % 26));
  return mark < 26 ? last : letterOf(Math.floor(mark / 26) - 1) + last;
}

/** rangesOf says slots in words: 0-3, 7, 12-15. */
export function rangesOf(slots: readonly number[]): string {
  const parts: string[] = [];
  for (let i = 0; i < slots.length; ) {
    const from = slots[i] ?? 0;
    let to = from;
    while (slots[++i] === to + 1) to++;
    parts.push(from === to ? String(from) : `${from}-${to}`);
  }
  return parts.join(", ");
}

export interface Share {
  owner: string | undefined;
  slots: number[];
  leaving: number; // that move to another master
  coming: number;
  full: number; // for whose commands there is no room
}

/** sharesOf sums the cells up by master; what nobody has stands last. */
export function sharesOf(cells: readonly Cell[]): Share[] {
  const shares = new Map<string | undefined, Share>();
  const of = (owner: string | undefined) => {
    const share = shares.get(owner) ?? { owner, slots: [], leaving: 0, coming: 0, full: 0 };
    shares.set(owner, share);
    return share;
  };
  for (const { slot, owner, next, full } of cells) {
    of(owner).slots.push(slot);
    if (full) of(owner).full++;
    if (next === undefined) continue;
    of(owner).leaving++;
    of(next).coming++;
  }
  return [...shares.values()].toSorted((a, b) =>
    a.owner === undefined ? 1 : b.owner === undefined ? -1 : a.owner.localeCompare(b.owner, "en"),
  );
}

export interface Step {
  epoch: number;
  name: string;
  master?: string;
  at: string;
}

/** Agreement is how long the steps of a rebalance took, and who answered last. */
export interface Agreement {
  proposed: number; // ms from the start to the PREPARE that was agreed on
  confirmed: number; // from there to the last answer
  committed: number; // from there to the COMMIT
  slowest: string | undefined;
}

/** agreementOf sums the steps of a rebalance up; undefined where they are not all known. */
export function agreementOf(startedAt: string, committedAt: string, steps: readonly Step[]): Agreement | undefined {
  const epoch = steps.at(-1)?.epoch;
  const prepare = steps.find((s) => s.epoch === epoch && s.name === "prepare");
  if (prepare === undefined) return undefined;
  const acks = steps.filter((s) => s.epoch === epoch && s.name === "ack");
  const last = acks.reduce<Step | undefined>((a, b) => (a === undefined || Date.parse(b.at) > Date.parse(a.at) ? b : a), undefined);
  const [from, asked, done] = [Date.parse(startedAt), Date.parse(prepare.at), Date.parse(committedAt)];
  const answered = last === undefined ? asked : Date.parse(last.at);
  return {
    proposed: Math.max(0, asked - from),
    confirmed: Math.max(0, answered - asked),
    committed: Math.max(0, done - answered),
    slowest: acks.length > 1 ? last?.master : undefined,
  };
}
