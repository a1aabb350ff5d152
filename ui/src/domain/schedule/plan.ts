// What differs between two plans of one backfill.

/** Plan is what of a plan is compared. */
export interface Plan {
  parts: readonly { project: string; workflow: string; version: number; dates: readonly string[] }[];
}

/** Moved is how the later plan differs: dates that run now, those that no longer do, and workflows of another version. */
export interface Moved {
  more: number;
  fewer: number;
  versions: number;
}

export function movedOf(before: Plan, after: Plan): Moved {
  const keys = (p: Plan) => new Set(p.parts.flatMap((w) => w.dates.map((d) => `${w.project}/${w.workflow} ${d}`)));
  const [old, now] = [keys(before), keys(after)];
  const versions = new Map(before.parts.map((w) => [`${w.project}/${w.workflow}`, w.version]));
  return {
    more: [...now].filter((d) => !old.has(d)).length,
    fewer: [...old].filter((d) => !now.has(d)).length,
    versions: after.parts.filter((w) => (versions.get(`${w.project}/${w.workflow}`) ?? w.version) !== w.version).length,
  };
}
