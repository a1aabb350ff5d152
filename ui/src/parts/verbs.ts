import type { PreviewedVerb, RerunScope } from "../api/queries";
import type { Sentence } from "../i18n";

/** Intent is what a person is about to ask of an instance, or of one of its tasks. */
export interface Intent {
  verb: PreviewedVerb | "release"; // a release moves no task: there is nothing to show first
  task?: string;
  scope?: RerunScope;
}

export function verbWord(intent: Intent): Sentence {
  if (intent.verb === "rerun" && intent.task !== undefined) return intent.scope === "only" ? "act.rerunOnly" : "act.rerunTask";
  return `act.${intent.verb}`;
}
