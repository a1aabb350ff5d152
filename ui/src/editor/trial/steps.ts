// The undo history of a text beside the document: the cases are no part of the workflow, and its steps are not theirs.

import { differ } from "../../domain/document/text";
import { startsWord } from "../form/values";

/** most is how many steps back there are, as many as the document has. */
const most = 200;

/** Steps are the texts before and behind the one that stands there. */
export interface Steps {
  readonly past: readonly string[];
  readonly text: string;
  readonly future: readonly string[];
}

/** stepsFrom begins with a text. */
export function stepsFrom(text: string): Steps {
  return { past: [], text, future: [] };
}

/** typed puts another text there; what is typed within a word is one step. */
export function typed(s: Steps, text: string): Steps {
  if (text === s.text) return s;
  const [edit] = differ(s.text, text);
  const within = s.past.length > 0 && edit?.insert.length === 1 && edit.from === edit.to && !startsWord(s.text, text);
  return { past: within ? s.past : [...s.past, s.text].slice(-most), text, future: [] };
}

/** back undoes a step, and forth does it again. */
export function back(s: Steps): Steps {
  const last = s.past.at(-1);
  return last === undefined ? s : { past: s.past.slice(0, -1), text: last, future: [s.text, ...s.future] };
}

export function forth(s: Steps): Steps {
  const [next, ...future] = s.future;
  return next === undefined ? s : { past: [...s.past, s.text], text: next, future };
}
