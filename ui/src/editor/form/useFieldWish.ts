import { type RefObject, useEffect, useState } from "react";
import { fieldOf, type Path, parsePath } from "../../domain/document/path";
import { useDocument } from "../context";

/** Wish is a field that somebody wants to see. */
export interface Wish {
  readonly task: string | undefined;
  readonly path: Path;
}

function wishOf(event: Event): Wish | undefined {
  const detail: unknown = event instanceof CustomEvent ? event.detail : undefined;
  if (typeof detail !== "object" || detail === null) return undefined;
  const task = "task" in detail && typeof detail.task === "string" ? detail.task : undefined;
  const path: unknown = "path" in detail ? detail.path : undefined;
  if (typeof path === "string") return { task, path: parsePath(path) };
  const steps = Array.isArray(path) ? path.filter((s): s is string | number => typeof s === "string" || typeof s === "number") : [];
  return { task, path: steps };
}

/** patience is how long, in milliseconds, a field may take to appear: what has none of its own is shown at the field around it. */
const patience = 600;

function focusAt(panel: HTMLElement, path: Path): boolean {
  const row = panel.querySelector(`[data-field="${CSS.escape(fieldOf(path))}"]`);
  // An editor for code stands in a shadow root of its own.
  const host = row?.querySelector(".code-host")?.shadowRoot;
  const control =
    host?.querySelector<HTMLElement>("[contenteditable=true]") ??
    row?.querySelector<HTMLElement>("input, textarea, .map-rows button, .in-text button");
  if (!row || !control) return false;
  control.focus();
  row.scrollIntoView({ block: "center" });
  return true;
}

/**
 * useFieldWish listens for "porpoise:field" and opens the panel at the task. The form that is then drawn
 * opens the part with the field; as soon as the field is in the page it is focused, and the wish is fulfilled.
 */
export function useFieldWish(root: RefObject<HTMLElement | null>, open: (open: boolean) => void): Wish | undefined {
  const doc = useDocument();
  const [wish, setWish] = useState<Wish>();
  useEffect(() => {
    const hear = (event: Event) => {
      const next = wishOf(event);
      if (!next) return;
      open(true);
      doc.select(next.task === undefined ? [] : [next.task]);
      setWish(next);
    };
    window.addEventListener("porpoise:field", hear);
    return () => window.removeEventListener("porpoise:field", hear);
  }, [doc, open]);
  // The form may still be on its way, or the part with the field may still be closed: each drawing tries again.
  useEffect(() => {
    const panel = root.current;
    if (!wish || !panel) return;
    const end = (done: boolean) => done && setWish(undefined);
    if (focusAt(panel, wish.path)) {
      setWish(undefined);
      return;
    }
    const watch = new MutationObserver(() => end(focusAt(panel, wish.path)));
    watch.observe(panel, { childList: true, subtree: true });
    const near = setTimeout(() => {
      for (let length = wish.path.length - 1; length > 0; length--) if (focusAt(panel, wish.path.slice(0, length))) break;
      setWish(undefined);
    }, patience);
    return () => {
      watch.disconnect();
      clearTimeout(near);
    };
  }, [wish, root]);
  return wish;
}
