import type { Explanation } from "../api/client";

/** reasonsOf are the explanations that say why a task waits: what lies below it, or itself where nothing does. */
export function reasonsOf(e: Explanation): Explanation[] {
  const causes = e.causes ?? [];
  return causes.length === 0 ? [e] : causes;
}
