// Which rows are chosen: a few by hand, or all that the filter matches.

export interface Choice {
  all: boolean;
  ids: ReadonlySet<string>;
  anchor: string | undefined; // where a range begins
}

export const nothing: Choice = { all: false, ids: new Set(), anchor: undefined };

/** toggle chooses one row or lets it go; from "all" it goes back to choosing by hand. */
export function toggle(choice: Choice, id: string): Choice {
  const ids = new Set(choice.all ? [] : choice.ids);
  if (!ids.delete(id)) ids.add(id);
  return { all: false, ids, anchor: id };
}

/** range chooses every row from the anchor to another, in the order of the list. */
export function range(choice: Choice, id: string, order: string[]): Choice {
  const to = order.indexOf(id);
  const from = choice.anchor === undefined ? to : order.indexOf(choice.anchor);
  if (to < 0) return choice;
  const [low, high] = from < 0 ? [to, to] : [Math.min(from, to), Math.max(from, to)];
  const ids = new Set(choice.all ? [] : choice.ids);
  for (const one of order.slice(low, high + 1)) ids.add(one);
  return { all: false, ids, anchor: choice.anchor ?? id };
}

export function isChosen(choice: Choice, id: string): boolean {
  return choice.all || choice.ids.has(id);
}
