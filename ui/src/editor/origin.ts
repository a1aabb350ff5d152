// What an editor begins with: the draft where there is one, else the newest version, else a new workflow.

import { scalarText } from "../domain/document/format";
import type { Places } from "../domain/history/history";

/** Origin is where the text that is edited comes from. */
export interface Origin {
  readonly project: string;
  readonly workflow: string;
  /** version is the one that the text was made from; 0 is none yet. */
  readonly version: number;
  readonly published: number;
  /** base is that version's text: the merge's common ground. */
  readonly base: string;
  readonly text: string;
  readonly format: "yaml" | "json";
  readonly places: Places;
  readonly draft: { readonly revision: number; readonly at: string; readonly by: string } | undefined;
}

interface Saved {
  readonly version: number;
  readonly base: string;
  readonly published: number;
  readonly text: string;
  readonly format: string;
}

interface Draft {
  readonly text: string;
  readonly format: string;
  readonly updated_at: string;
  readonly updated_by: string;
  readonly revision: number;
}

/** begun makes an origin of what the server has. */
export function begun(of: { project: string; workflow: string }, saved?: Saved, draft?: Draft, places?: Places): Origin {
  const from = draft ?? saved;
  return {
    ...of,
    version: saved?.version ?? 0,
    published: saved?.published ?? 0,
    base: saved?.base ?? "",
    text: from && from.text !== "" ? from.text : `name: ${scalarText(of.workflow, { flow: false, json: false })}\ntasks: []\n`,
    format: from?.format === "json" ? "json" : "yaml",
    places: places ?? {},
    draft: draft && { revision: draft.revision, at: draft.updated_at, by: draft.updated_by },
  };
}
