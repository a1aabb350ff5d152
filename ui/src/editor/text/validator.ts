// The server's look at the text, some time after the last change.

import type { Finding } from "../../domain/document/validate";
import type { Document } from "../document";

/** ServerState tells how the server's look at the text is doing. */
export type ServerState = "asking" | "done" | "away" | "signed_out";

/** validatePause is the quiet, in milliseconds, before the server is asked. */
export const validatePause = 400;

/** retryPause is how long a server that is away is left alone. */
export const retryPause = 5_000;

/** Ask sends a text to the server. It throws where there is no answer: Unauthorized for an expired session. */
export type Ask = (text: string, json: boolean, signal: AbortSignal) => Promise<readonly Finding[]>;

/** Unauthorized is the answer to somebody who is no longer signed in. */
export class Unauthorized extends Error {}

interface Deps {
  readonly ask: Ask;
  readonly after: (ms: number, run: () => void) => () => void;
  readonly tell: (state: ServerState) => void;
}

/** watch asks the server for each text that stands still, and drops what is outdated, until the answer is called. */
export function watch(doc: Document, { ask, after, tell }: Deps): () => void {
  let asked: string | undefined;
  let calledOff: (() => void) | undefined;
  let abort: AbortController | undefined;
  const stop = () => {
    calledOff?.();
    abort?.abort();
    abort = undefined;
  };
  const wait = (ms: number) => {
    calledOff?.();
    calledOff = after(ms, () => void send());
  };
  const send = async () => {
    const { history } = doc.state;
    // The findings need their places: a long text is read elsewhere, and its settling wakes us again.
    if (!doc.state.settled) return;
    asked = history.text;
    const own = new AbortController();
    abort = own;
    tell("asking");
    try {
      const findings = await ask(history.text, /^\s*\{/.test(history.text), own.signal);
      if (own.signal.aborted) return;
      doc.found(history.text, findings);
      tell("done");
    } catch (error) {
      if (own.signal.aborted) return;
      tell(error instanceof Unauthorized ? "signed_out" : "away");
      wait(retryPause);
    }
  };
  const begin = doc.store.subscribe((state, before) => {
    const moved = state.history.text !== before.history.text;
    if (!moved && !(state.settled && !before.settled)) return;
    if (state.history.text === asked && !moved) return;
    stop();
    asked = undefined;
    tell("asking");
    wait(validatePause);
  });
  wait(0);
  return () => {
    begin();
    stop();
  };
}
