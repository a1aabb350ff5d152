import type { Say, Sentence } from "../i18n";
import { triggers } from "../search";

/** Trigger is what started an instance. */
export type Trigger = (typeof triggers)[number];

const signs: Record<Trigger, { letter: string; word: Sentence; short: Sentence }> = {
  manual: { letter: "m", word: "grid.manual", short: "trigger.manual" },
  schedule: { letter: "t", word: "grid.schedule", short: "trigger.schedule" },
  end: { letter: "e", word: "grid.end", short: "trigger.end" },
  webhook: { letter: "h", word: "grid.webhook", short: "trigger.webhook" },
  backfill: { letter: "b", word: "grid.backfill", short: "trigger.backfill" },
  child: { letter: "c", word: "grid.child", short: "trigger.child" },
  rerun: { letter: "r", word: "grid.rerunOf", short: "trigger.rerun" },
};

function isTrigger(text: string): text is Trigger {
  return triggers.some((one) => one === text);
}

/** triggerOf is the letter, the sentence and the word of what started an instance. */
export function triggerOf(t: Say, trigger: string): { letter: string; word: string; short: string } {
  const known = isTrigger(trigger) ? signs[trigger] : undefined;
  return known ? { letter: known.letter, word: t(known.word), short: t(known.short) } : { letter: "?", word: trigger, short: trigger };
}
