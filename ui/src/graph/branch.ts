import { edgeId, type GraphTask } from "../domain/graph/model";
import type { Branch, Rules } from "../domain/graph/rules";
import type { Direction, Point, Size } from "../domain/graph/shape";
import type { Say } from "../i18n";

// A character of the small type on an edge, and what the words keep off the nodes, in canvas units.
const letter = 6;
const margin = 20;
// From top to bottom an edge has the width of a node for its words.
const beside = 150;

/** roomFor is how long the words on an edge between two nodes can be. */
export function roomFor(from: Point, to: Point, size: Size, direction: Direction): number {
  return direction === "LR" ? to.x - from.x - size.width - margin : beside;
}

/** branchWords says which branch an edge leads into: by number, with the condition as far as there is room. */
export function branchWords({ cases, other, when }: Branch, room: number): string {
  const short = [...cases.map(String), ...(other ? ["else"] : [])].join(", ");
  const fits = Math.floor(room / letter) - short.length - 2;
  if (when === "" || other || fits < 8) return short;
  return `${short}: ${when.length > fits ? `${when.slice(0, fits - 1)}…` : when}`;
}

/** ruleWords says for those who do not see the graph what a task comes after, and by which rules. */
export function ruleWords(t: Say, { name, needs }: GraphTask, rules: Rules | undefined): string[] {
  const out = needs.length > 0 ? [t("run.nodeAfter", { needs: needs.join(", ") })] : [];
  for (const from of needs) {
    const branch = rules?.branches.get(edgeId(from, name));
    if (branch) out.push(t("graph.inBranch", { task: from, branch: branchWords(branch, Number.POSITIVE_INFINITY) }));
  }
  const gate = rules?.gates.get(name);
  if (gate !== undefined) out.push(gate);
  if (rules?.last.has(name)) out.push(t("graph.last"));
  return out;
}
