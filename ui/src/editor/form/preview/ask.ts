// What a preview is asked for. It is kept with the document, so that a look at another part of the form loses nothing.

import { useState } from "react";
import type { Instance } from "../../../api/client";
import type { Document } from "../../document";

/** Ask is what a person has chosen: a time or a past instance, and values as a start would give them. */
export interface Ask {
  readonly of: "time" | "instance";
  /** at is the field's text in the zone of the page; empty is now. */
  readonly at: string;
  readonly instance: Instance | undefined;
  readonly params: Readonly<Record<string, string>>;
}

const first: Ask = { of: "time", at: "", instance: undefined, params: {} };
const kept = new WeakMap<Document, Ask>();

/** useAsk gives what is asked for, and changes it. */
export function useAsk(doc: Document): [Ask, (part: Partial<Ask>) => void] {
  const [ask, setAsk] = useState(() => kept.get(doc) ?? first);
  const change = (part: Partial<Ask>) => {
    const next = { ...ask, ...part };
    kept.set(doc, next);
    setAsk(next);
  };
  return [ask, change];
}
