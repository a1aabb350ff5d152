// The panel's width and whether it is open: kept for this browser, since it is a person's habit and no page's state.

import { useCallback, useState, useSyncExternalStore } from "react";

const key = "porpoise.editor.panel";

/** widthMin and widthMax bound the panel: below, labels break; above, the canvas is gone. */
export const widthMin = 300;
export const widthMax = 720;
const widthFirst = 380;

/** narrow is a window in which the panel lies over the canvas instead of beside it. */
export const narrow = "(max-width: 900px)";

interface Kept {
  readonly width: number;
  readonly open: boolean;
}

function kept(): Kept {
  const first = { width: widthFirst, open: !matchMedia(narrow).matches };
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    if (typeof value !== "object" || value === null) return first;
    const width = "width" in value && typeof value.width === "number" ? bounded(value.width) : first.width;
    const open = "open" in value && typeof value.open === "boolean" ? value.open && first.open : first.open;
    return { width, open };
  } catch {
    return first;
  }
}

/** bounded keeps a width in its bounds. */
export function bounded(width: number): number {
  return Math.round(Math.max(widthMin, Math.min(widthMax, width)));
}

/** usePanel gives the width and the opening, and what changes them. */
export function usePanel(): Kept & { setWidth: (w: number) => void; setOpen: (open: boolean) => void } {
  const [state, setState] = useState(kept);
  const change = useCallback((part: Partial<Kept>) => {
    setState((s) => {
      const next = { ...s, ...part };
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Storage is off: the choice lasts for this visit.
      }
      return next;
    });
  }, []);
  const setWidth = useCallback((w: number) => change({ width: bounded(w) }), [change]);
  const setOpen = useCallback((open: boolean) => change({ open }), [change]);
  return { ...state, setWidth, setOpen };
}

/** useNarrow tells whether the window is narrow, as it is now. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (changed) => {
      const query = matchMedia(narrow);
      query.addEventListener("change", changed);
      return () => query.removeEventListener("change", changed);
    },
    () => matchMedia(narrow).matches,
  );
}
