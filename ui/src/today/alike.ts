import type { Instance } from "../api/client";

/** Alike is failures of one workflow by one task: the newest speaks for all of them. */
export interface Alike {
  key: string;
  newest: Instance;
  older: Instance[];
}

/** alike puts together what failed by the same task of the same workflow, in the order of the newest of each. */
export function alike(list: readonly Instance[]): Alike[] {
  const groups = new Map<string, Alike>();
  for (const i of list) {
    const culprit = i.outline?.culprit;
    const key = JSON.stringify([i.project, i.workflow, i.state, culprit?.task ?? "", culprit?.reason ?? i.reason ?? ""]);
    const known = groups.get(key);
    if (known) known.older.push(i);
    else groups.set(key, { key, newest: i, older: [] });
  }
  return [...groups.values()];
}
