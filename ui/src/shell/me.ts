import { useQuery } from "@tanstack/react-query";
import type { Me } from "../api/client";
import { sessionQuery } from "../api/queries";
import { may, type Role, roleIn } from "../domain/rights";
import { type Say, useSay } from "../i18n";

/** useMe is who is signed in; the pages of the console are drawn for nobody else. */
export function useMe(): Me {
  const { data } = useQuery(sessionQuery);
  if (!data) throw new Error("a page was drawn for nobody");
  return data;
}

/** useWhyNot gives the reason why the person may not do what needs a role in a project; undefined where he may. */
export function useWhyNot(project: string): (need: Role) => string | undefined {
  const { t } = useSay();
  const me = useMe();
  return (need) => whyNot(t, roleIn(me, project), need);
}

/** whyNot is the sentence for a role that is not enough. */
export function whyNot(t: Say, role: string, need: Role | "admin"): string | undefined {
  return may(role, need) ? undefined : t(`account.why.${need}`);
}
