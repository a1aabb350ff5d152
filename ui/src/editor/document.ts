// The one document that canvas, form, list and text show. Every change of any of them is a
// command here: it goes into one history, and all views see it in the same moment.

import { createStore, type StoreApi } from "zustand/vanilla";
import type { Edit, Refusal } from "../domain/document/edit";
import { type Checked, type Forms, joined, localFindings } from "../domain/document/local";
import { type Reading, read } from "../domain/document/read";
import { reread } from "../domain/document/reread";
import { differ, type Splice } from "../domain/document/text";
import { type Finding, type Problems, problemsOf } from "../domain/document/validate";
import { type Action, begin, type History, type Moves, type Place, type Places, reduce, type Selection } from "../domain/history/history";
import { inPlaceMax, type Reader } from "./reader";

/** DocumentState is what the views draw. */
export interface DocumentState {
  readonly history: History;
  /** reading may be of an older text for a moment: settled says whether it is of this one. */
  readonly reading: Reading;
  readonly settled: boolean;
  /** served is the server's last answer, which may be to an older text. */
  readonly served: Checked | undefined;
  readonly problems: Problems;
  /** refusal is why the last command was not done, until the next one. */
  readonly refusal: Refusal | undefined;
}

/** Options of a command. */
export interface Options {
  readonly moves?: Moves;
  readonly tasks?: readonly string[];
  readonly caret?: { readonly anchor: number; readonly head: number };
  /** Commands of one group that follow each other closely are one step of the history. */
  readonly group?: string;
}

/** typingPause is the quiet, in milliseconds, after which a typed text is read. */
export const typingPause = 150;

interface Deps {
  readonly reader: Reader;
  /** now is a clock in milliseconds that does not go back. */
  readonly now: () => number;
  /** after calls run once, and answers how to call it off. */
  readonly after: (ms: number, run: () => void) => () => void;
}

/** Document holds the state and takes the commands. It is used by one page and by one thread. */
export class Document {
  readonly store: StoreApi<DocumentState>;
  /**
   * drawn is where the canvas shows the tasks that have no place of their own. The first change of
   * places makes them theirs, so that what was seen is what is saved.
   */
  drawn: Places = {};
  private calledOff: (() => void) | undefined;
  private forms: Forms | undefined;

  constructor(
    text: string,
    places: Places,
    private readonly deps: Deps,
    reading: Reading = read(text),
  ) {
    const history = begin(text, places);
    this.store = createStore<DocumentState>(() => ({
      history,
      reading,
      settled: true,
      served: undefined,
      problems: problemsOf(reading, localFindings(reading)),
      refusal: undefined,
    }));
  }

  /** state is what the views draw now. */
  get state(): DocumentState {
    return this.store.getState();
  }

  /** reading is of the text as it is: a reading that is still under way is done at once. */
  current(): Reading {
    const { history, reading } = this.state;
    if (reading.text === history.text) return reading;
    this.settle(read(history.text, reading));
    return this.state.reading;
  }

  /** placeOf answers where a task stands on the canvas. */
  placeOf(task: string): Place | undefined {
    const { places } = this.state.history;
    return Object.hasOwn(places, task) ? places[task] : this.drawn[task];
  }

  /** edit runs an edit on the text as it is. It answers false, and says why in refusal, where nothing was done. */
  edit(label: string, make: (reading: Reading) => Edit, options: Options = {}): boolean {
    const edit = make(this.current());
    if (!edit.ok) {
      this.store.setState({ refusal: edit.refusal });
      return false;
    }
    this.change(label, edit.splices, options);
    return true;
  }

  /** change does splices of the text and moves on the canvas as one command. */
  change(label: string, splices: readonly Splice[], options: Options = {}): void {
    const { selection } = this.state.history;
    const after: Selection = { ...selection, ...(options.tasks && { tasks: options.tasks }), ...options.caret };
    const moves = this.withDrawn(options.moves);
    const change = { label, at: this.deps.now(), splices, moves, selection: after, group: options.group };
    this.act({ type: "change", change }, splices);
  }

  /** type does what was typed into the text; it is read when the typing pauses. */
  type(splices: readonly Splice[], caret: { anchor: number; head: number }): void {
    const { selection } = this.state.history;
    const change = { label: "type", at: this.deps.now(), splices, selection: { ...selection, ...caret }, group: "type" };
    const history = reduce(this.state.history, { type: "change", change });
    this.store.setState({ history, settled: history.text === this.state.reading.text, refusal: undefined });
    this.calledOff?.();
    this.calledOff = this.deps.after(typingPause, () => this.settleSoon());
  }

  undo(): void {
    this.act({ type: "undo" });
  }

  redo(): void {
    this.act({ type: "redo" });
  }

  /** seal ends a step: what comes now is undone by itself. */
  seal(): void {
    this.store.setState({ history: reduce(this.state.history, { type: "seal" }) });
  }

  /** select chooses tasks; it is no step of the history. */
  select(tasks: readonly string[]): void {
    const { selection } = this.state.history;
    if (same(selection.tasks, tasks)) return;
    this.store.setState({ history: reduce(this.state.history, { type: "select", selection: { ...selection, tasks } }) });
  }

  /** caret tells where the caret of the text stands; it is no step of the history. */
  caret(anchor: number, head: number): void {
    const { selection } = this.state.history;
    this.store.setState({ history: reduce(this.state.history, { type: "select", selection: { ...selection, anchor, head } }) });
  }

  /** found takes the server's findings for a text; those of another text than ours are dropped. */
  found(text: string, findings: readonly Finding[]): void {
    const { history, reading } = this.state;
    if (history.text !== text || reading.text !== text) return;
    const local = localFindings(reading, this.forms);
    const served: Checked = { reading, findings, local };
    this.store.setState({ served, problems: problemsOf(reading, joined(reading, local, served)) });
  }

  /** describe takes the schemas of the forms: the page's own checks know more with them. */
  describe(forms: Forms): void {
    if (this.forms === forms) return;
    this.forms = forms;
    // What the server found before the schemas came is the page's own to decide from now on.
    const { served, reading } = this.state;
    if (served) this.store.setState({ served: { ...served, local: localFindings(served.reading, forms) } });
    this.store.setState({ problems: this.problems(reading) });
  }

  /** refuse shows why something was not done. */
  refuse(refusal: Refusal | undefined): void {
    this.store.setState({ refusal });
  }

  /** close lets go of the reader and of what was to come. */
  close(): void {
    this.calledOff?.();
    this.deps.reader.close();
  }

  private withDrawn(moves: Moves | undefined): Moves | undefined {
    if (!moves || Object.keys(moves).length === 0) return moves;
    const { places } = this.state.history;
    const fresh = Object.entries(this.drawn).filter(([task]) => !Object.hasOwn(places, task));
    return fresh.length === 0 ? moves : { ...Object.fromEntries(fresh), ...moves };
  }

  private act(action: Action, splices?: readonly Splice[]): void {
    const { history: before, reading } = this.state;
    const history = reduce(before, action);
    this.calledOff?.();
    if (history.text === before.text) {
      this.store.setState({ history, refusal: undefined });
      return;
    }
    if (reading.good && reading.text === before.text) {
      const next = reread(reading, splices ?? differ(before.text, history.text));
      this.store.setState({ history, reading: next, settled: true, problems: this.problems(next), refusal: undefined });
      return;
    }
    this.store.setState({ history, settled: false, refusal: undefined });
    this.settleSoon();
  }

  private settleSoon(): void {
    this.calledOff = undefined;
    const { history, reading } = this.state;
    if (history.text.length <= inPlaceMax) {
      this.settle(read(history.text, reading));
      return;
    }
    this.deps.reader.read(history.text).then(
      (next) => this.settle(next),
      () => this.current(),
    );
  }

  // A reading that was made elsewhere knows no last good model: ours stays on the canvas.
  private settle(next: Reading): void {
    const { history, reading } = this.state;
    if (next.text !== history.text) return;
    const kept = next.good ? next : { ...next, model: reading.model };
    this.store.setState({ reading: kept, settled: true, problems: this.problems(kept) });
  }

  private problems(reading: Reading): Problems {
    return problemsOf(reading, joined(reading, localFindings(reading, this.forms), this.state.served));
  }
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((x, i) => x === b[i]);
}
