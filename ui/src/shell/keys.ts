import { useEffect } from "react";
import { settings } from "../settings";

// Shortcuts of the whole console. None works inside a field or an editor: a key typed
// there is text.

export type Keys = Record<string, (event: KeyboardEvent) => void>;

/** leader is the first stroke of every pair. */
const leader = "g";

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

/** useKeys maps "g t", "?", "mod+k" to what they do; two strokes are at most a second apart. */
export function useKeys(keys: Keys): void {
  useEffect(() => {
    let first = "";
    let at = 0;
    const press = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing) return;
      if (event.ctrlKey || event.metaKey) {
        const key = event.key.toLowerCase();
        const run = event.altKey ? undefined : ((event.shiftKey ? keys[`mod+shift+${key}`] : undefined) ?? keys[`mod+${key}`]);
        if (run) {
          event.preventDefault();
          run(event);
        }
        return;
      }
      // Inside a shadow root the target is its host: the path knows the editor itself.
      if (event.altKey || typing(event.composedPath()[0] ?? event.target) || !settings().letters || document.querySelector("[role=dialog]"))
        return;
      // After the first stroke of a pair the second is nothing by itself, on whatever page it is heard.
      const run = first === leader && Date.now() - at < 1000 ? keys[`${leader} ${event.key}`] : keys[event.key];
      first = event.key;
      at = Date.now();
      if (run) {
        event.preventDefault();
        run(event);
      }
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [keys]);
}
