import { messageOf } from "../domain/message";
import type { Say } from "../i18n";

/** messageWords says what is said of an attempt in the reader's language; what a task says stays as it is. */
export function messageWords(t: Say, text: string): string {
  const known = messageOf(text);
  return known === undefined ? text : t(`message.${known.key}`, { ...known.values });
}
