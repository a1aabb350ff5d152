import { getRouteApi } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { Problem } from "../../domain/document/validate";
import { useStay } from "../../parts/useStay";
import type { Field } from "./schema";
import { type Tab, tabFrom, tabOf } from "./sections";
import type { Wish } from "./useFieldWish";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** usePart keeps the open part of a form in the address, and opens the one in which a wished field stands. */
export function usePart(of: "task" | "workflow", fields: readonly Field[], wish: Wish | undefined) {
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const tab = tabFrom(search.tab, of);
  const [open, setOpen] = useState(false);
  const setTab = (next: Tab) => void go({ search: (s) => ({ ...s, tab: next === "what" ? undefined : next }), replace: true });
  const key = wish?.path[0];
  const wanted = typeof key === "string" ? tabOf(key, of) : undefined;
  const folded = fields.some((f) => f.key === key && (f.advanced || f.fields.some((g) => g.key === wish?.path[1] && g.advanced)));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new wish opens something; what is done by hand after it stays
  useEffect(() => {
    if (wanted === undefined) return;
    if (wanted !== tab) setTab(wanted);
    if (folded) setOpen(true);
  }, [wish]);
  return { tab, setTab, open, setOpen };
}

/** countsOf counts problems by the part in which their field stands. */
export function countsOf(problems: readonly Problem[], of: "task" | "workflow"): Partial<Record<Tab, number>> {
  const out: Partial<Record<Tab, number>> = {};
  for (const p of problems) {
    const [key] = p.path;
    const tab = typeof key === "string" ? tabOf(key, of) : "what";
    out[tab] = (out[tab] ?? 0) + 1;
  }
  return out;
}
