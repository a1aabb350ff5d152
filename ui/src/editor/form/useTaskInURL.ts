import { getRouteApi, useRouter } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useStay } from "../../parts/useStay";
import { editorSearch } from "../../search";
import { useDoc, useDocument } from "../context";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** useOpened is the task that a view begins at: the one that is chosen, or that the address names before it is. */
export function useOpened(): string | undefined {
  const doc = useDocument();
  const { task } = route.useSearch();
  const [opened] = useState(() => doc.state.history.selection.tasks.at(-1) ?? task);
  return opened;
}

/**
 * useTaskInURL keeps the one chosen task in the address: the first choice is a step back can undo,
 * the next ones take its place. The address is followed when it is opened and at back and forward only,
 * so that a slow answer of the router never takes a newer choice away.
 */
export function useTaskInURL(): void {
  const doc = useDocument();
  const router = useRouter();
  const go = useStay(route.useNavigate());
  const { task: opened } = route.useSearch();
  const chosen = useDoc((s) => (s.history.selection.tasks.length === 1 ? s.history.selection.tasks[0] : undefined));
  const inAddress = useRef<string>(undefined);
  const first = useRef(opened);
  useEffect(() => {
    const follow = (task: string | undefined) => {
      const there = task !== undefined && doc.state.reading.model.tasks.some((t) => t.name === task);
      inAddress.current = there ? task : undefined;
      doc.select(there ? [task] : []);
    };
    if (first.current !== undefined) {
      inAddress.current = first.current;
      follow(first.current);
      first.current = undefined;
    }
    return router.history.subscribe(({ location, action }) => {
      if (action.type !== "BACK" && action.type !== "FORWARD" && action.type !== "GO") return;
      if (!location.pathname.endsWith("/edit")) return;
      follow(editorSearch(Object.fromEntries(new URLSearchParams(location.search))).task);
    });
  }, [doc, router]);
  useEffect(() => {
    if (chosen === inAddress.current || first.current !== undefined) return;
    const replace = inAddress.current !== undefined || chosen === undefined;
    inAddress.current = chosen;
    void go({ search: (s) => ({ ...s, task: chosen }), replace });
  }, [chosen, go]);
}
