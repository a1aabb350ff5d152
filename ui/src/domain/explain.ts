import type { Explanation } from "../api/client";

// What the tree of reasons means for a page: which leaf is the one at fault.

export interface RootCause {
  task: string | undefined;
  code: string;
  text: string;
  said: string[]; // the worker's message, or how its output ended
}

const sayings = new Set(["message", "output"]);

/** rootCauses lists the reasons that have no further reason, in the server's order. */
export function rootCauses(e: Explanation): RootCause[] {
  const found: RootCause[] = [];
  const seen = new Set<string>();
  const walk = (node: Explanation) => {
    const causes = node.causes ?? [];
    const further = causes.filter((c) => !sayings.has(c.code));
    if (further.length > 0) {
      for (const c of further) walk(c);
      return;
    }
    const task = node.args?.task;
    const key = `${node.code} ${task ?? node.text}`;
    if (seen.has(key)) return;
    seen.add(key);
    found.push({ task, code: node.code, text: node.text, said: causes.map((c) => c.text) });
  };
  walk(e);
  return found;
}
