import type { Me } from "../api/client";

/** roles are what one may be in a project, each including all before it. */
export const roles = ["viewer", "operator", "editor", "owner"] as const;
export type Role = (typeof roles)[number];
const order = ["none", ...roles, "admin"];

/** roleIn is what a person is in a project; an admin is that everywhere. */
export function roleIn(me: Me, project: string): string {
  return me.admin ? "admin" : (me.roles[project] ?? "none");
}

/** may tells whether a role is enough. A role that is not known here is not: the server decides anyway. */
export function may(role: string, need: Role | "admin"): boolean {
  return order.indexOf(role) >= order.indexOf(need);
}

export function isRole(text: string | null): text is Role {
  return roles.some((r) => r === text);
}
