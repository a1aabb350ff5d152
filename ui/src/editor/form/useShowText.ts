import { getRouteApi } from "@tanstack/react-router";
import { useStay } from "../../parts/useStay";
import { showRange } from "../text/go";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** useShowText gives the way to a place in the text: the text stands beside what was open, and the caret is there. */
export function useShowText(): (from: number, to: number) => void {
  const go = useStay(route.useNavigate());
  const { view = "canvas" } = route.useSearch();
  return (from, to) => {
    showRange({ from, to }, true);
    if (view !== "text" && view !== "split") void go({ search: (s) => ({ ...s, view: "split" as const }) });
  };
}
