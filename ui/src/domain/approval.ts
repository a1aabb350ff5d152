import type { Approval, FormField } from "../api/approvals";

// What a page makes of an approval: how far it is, and what of its form still wants a value.

/** approvedBy are the people who have approved, in the order in which they did. */
export function approvedBy({ decisions }: Pick<Approval, "decisions">): string[] {
  return decisions.filter((d) => d.approve).map((d) => d.by);
}

/** Standing is how an approval stands for a reader. */
export type Standing = "mine" | "decided" | "others" | "over";

/** standingOf tells whether a reader may decide, has decided, is not asked, or comes too late. */
export function standingOf(a: Pick<Approval, "may_decide" | "decisions" | "state">, me: string): Standing {
  if (a.may_decide) return "mine";
  if (a.state !== "running") return "over";
  return a.decisions.some((d) => d.by === me) ? "decided" : "others";
}

/** missingIn names the fields of a form that have neither a value nor a default. */
export function missingIn(form: readonly Pick<FormField, "name" | "default">[], values: Readonly<Record<string, string>>): string[] {
  return form.filter((f) => f.default === undefined && (values[f.name] ?? "") === "").map((f) => f.name);
}

/** filledIn are the values that differ from the defaults: what is left as it was is the definition's. */
export function filledIn(form: readonly Pick<FormField, "name">[], values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(form.flatMap(({ name }) => (values[name] ? [[name, values[name]]] : [])));
}

/** boundsOf says in signs what a field takes: 1 to 100, at least 1. */
export function boundsOf({ min, max, pattern }: Pick<FormField, "min" | "max" | "pattern">): string {
  const range = min && max ? `${min} – ${max}` : min ? `≥ ${min}` : max ? `≤ ${max}` : "";
  return [range, pattern ? `/${pattern}/` : ""].filter((w) => w !== "").join(" ");
}

/** keyOf names one attempt of an approval, as an address and a list do. */
export function keyOf(a: Pick<Approval, "instance_id" | "task">): string {
  return `${a.instance_id}/${a.task}`;
}
