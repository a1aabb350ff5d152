import type { ProjectOverview } from "../api/account";
import type { Instance } from "../api/client";

// Which of the first steps are behind somebody.

/** Known is what tells of it. */
export interface Known {
  latest: Pick<Instance, "created_by">[];
  projects: Pick<ProjectOverview, "name" | "workflows">[];
  looked: boolean; // a failure was opened from the steps
}

/** product is who starts what nobody has asked for: the examples of a new node. */
const product = "porpoise";
const examples = "examples";

/** stepsDone tells it of each step. */
export function stepsDone({ latest, projects, looked }: Known) {
  const own = projects.filter((p) => p.name !== examples);
  return {
    run: latest.some((i) => i.created_by !== product),
    look: looked,
    project: own.length > 0,
    write: own.some((p) => p.workflows > 0),
  };
}
