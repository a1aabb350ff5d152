import { createContext, useContext } from "react";
import type { Me } from "../api/client";
import { may, type Role, roleIn } from "../domain/rights";
import { type Say, useSay } from "../i18n";

/**
 * Person is whom the page is drawn for. The page outlives his session: it waits behind the sign-in
 * with what was being written, so it must not read the session itself.
 */
export const Person = createContext<Me | undefined>(undefined);

/** useMe is the person whom the page is drawn for. */
export function useMe(): Me {
  const me = useContext(Person);
  if (!me) throw new Error("a page was drawn for nobody");
  return me;
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
