// The clipboard holds tasks as YAML text. Ctrl+C, X and V come as events of the browser, which give it
// to every page; a menu has no such event and needs a secure origin, or asks for the key.

import { useEffect } from "react";
import type { Acts } from "./acts";
import { isTyping } from "./typing";

/** writeClipboard answers whether the text is on the clipboard now. */
export async function writeClipboard(text: string): Promise<boolean> {
  if (text === "") return false;
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byEvent(text);
  }
}

// On plain http there is no clipboard object: the browser's own copy command asks for the text by an event.
function byEvent(text: string): boolean {
  const give = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  document.addEventListener("copy", give, { capture: true, once: true });
  try {
    return document.execCommand("copy");
  } finally {
    document.removeEventListener("copy", give, { capture: true });
  }
}

/** readClipboard gives the clipboard's text, or undefined where a page may not read it by itself. */
export async function readClipboard(): Promise<string | undefined> {
  try {
    return await navigator.clipboard.readText();
  } catch {
    return undefined;
  }
}

/** useClipboard lets the canvas answer copy, cut and paste while it has the keys. */
export function useClipboard(acts: Acts, hasKeys: (target: EventTarget | null) => boolean): void {
  useEffect(() => {
    const take = (event: ClipboardEvent) => {
      if (event.defaultPrevented || isTyping(event.target) || !hasKeys(document.activeElement)) return;
      // Text that is marked on the page, such as a problem's sentence, is copied as that.
      if (event.type !== "paste" && !document.getSelection()?.isCollapsed && acts.chosen.length === 0) return;
      if (event.type === "paste") {
        const text = event.clipboardData?.getData("text/plain") ?? "";
        if (text !== "") acts.paste(text);
      } else {
        const text = event.type === "cut" ? acts.cut() : acts.copy();
        if (text === "") return;
        event.clipboardData?.setData("text/plain", text);
      }
      event.preventDefault();
    };
    for (const type of ["copy", "cut", "paste"] as const) document.addEventListener(type, take);
    return () => {
      for (const type of ["copy", "cut", "paste"] as const) document.removeEventListener(type, take);
    };
  }, [acts, hasKeys]);
}
