import { isRole } from "../domain/rights";
import { useSay } from "../i18n";

/** RoleWord is a role in the person's language. */
export function RoleWord({ role }: { role: string }) {
  const { t } = useSay();
  return <>{isRole(role) || role === "admin" || role === "none" ? t(`account.role.${role}`) : role}</>;
}
