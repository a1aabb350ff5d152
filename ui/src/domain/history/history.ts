// One undo history for text and canvas. It has no clock and no editor: callers give the time, and
// apply what comes back. All views send their changes here, so undo walks through all of them.

import { applySplices, invertSplices, type Splice } from "../document/text";

/** Place is where a task stands on the canvas. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

/** Places is the canvas by task name. */
export type Places = Readonly<Record<string, Place>>;

/** Moves is a change of places: undefined takes one away. */
export type Moves = Readonly<Record<string, Place | undefined>>;

/** Selection is what was chosen: tasks on the canvas, and the caret in the text. */
export interface Selection {
  readonly tasks: readonly string[];
  readonly anchor: number;
  readonly head: number;
}

/** Change is one command: splices of the text as it is, moves on the canvas, and the selection after it. */
export interface Change {
  readonly label: string;
  /** Milliseconds of any clock that does not go back. */
  readonly at: number;
  readonly splices?: readonly Splice[];
  readonly moves?: Moves;
  readonly selection?: Selection;
  /** Changes of one group that follow each other within 600 ms are undone at once. */
  readonly group?: string;
}

interface Step {
  readonly splices: readonly Splice[];
  readonly moves: Moves;
}

/** Entry is what one undo takes back. */
export interface Entry {
  readonly label: string;
  readonly at: number;
  readonly group: string | undefined;
  readonly forward: readonly Step[];
  readonly back: readonly Step[];
  readonly before: Selection;
  readonly after: Selection;
}

/** History is a document with its past and future; changed counts all changes, for "is this what was saved". */
export interface History {
  readonly text: string;
  readonly places: Places;
  readonly selection: Selection;
  readonly past: readonly Entry[];
  readonly future: readonly Entry[];
  readonly changed: number;
}

/** Action is what happens to a history. */
export type Action =
  | { readonly type: "change"; readonly change: Change }
  | { readonly type: "select"; readonly selection: Selection }
  | { readonly type: "undo" }
  | { readonly type: "redo" }
  | { readonly type: "seal" };

/** maxEntries bounds the memory: nobody undoes two hundred steps one by one. */
export const maxEntries = 200;

/** groupWindow is the pause in typing, in milliseconds, after which a new step begins. */
export const groupWindow = 600;

/** noSelection is nothing chosen and the caret at the top. */
export const noSelection: Selection = { tasks: [], anchor: 0, head: 0 };

/** begin starts a history at a text and its canvas. */
export function begin(text: string, places: Places = {}): History {
  return { text, places, selection: noSelection, past: [], future: [], changed: 0 };
}

/** reduce returns the history after an action. The same actions always give the same history. */
export function reduce(state: History, action: Action): History {
  switch (action.type) {
    case "change":
      return change(state, action.change);
    case "select":
      return { ...state, selection: action.selection };
    case "undo":
      return undo(state);
    case "redo":
      return redo(state);
    case "seal":
      return seal(state);
  }
}

function change(state: History, c: Change): History {
  const step: Step = { splices: c.splices ?? [], moves: c.moves ?? {} };
  const text = applySplices(state.text, step.splices);
  const moved = Object.keys(step.moves).some((name) => !same(state.places[name], step.moves[name]));
  const after = c.selection ?? state.selection;
  if (text === state.text && !moved) return { ...state, selection: after };
  const back: Step = { splices: invertSplices(state.text, step.splices), moves: inverse(state.places, step.moves) };
  const last = state.past.at(-1);
  const joins = last && joined(last, c) && state.future.length === 0;
  const entry: Entry = joins
    ? { ...last, at: c.at, forward: [...last.forward, step], back: [back, ...last.back], after }
    : { label: c.label, at: c.at, group: c.group, forward: [step], back: [back], before: state.selection, after };
  const past = [...(joins ? state.past.slice(0, -1) : state.past), entry].slice(-maxEntries);
  return { text, places: move(state.places, step.moves), selection: after, past, future: [], changed: state.changed + 1 };
}

function joined(last: Entry, c: Change): boolean {
  return c.group !== undefined && c.group === last.group && c.at - last.at <= groupWindow;
}

function undo(state: History): History {
  const entry = state.past.at(-1);
  if (!entry) return state;
  const past = state.past.slice(0, -1);
  return { ...run(state, entry.back), past, future: [entry, ...state.future], selection: entry.before };
}

function redo(state: History): History {
  const [entry, ...future] = state.future;
  if (!entry) return state;
  return { ...run(state, entry.forward), past: [...state.past, entry], future, selection: entry.after };
}

// What is typed after a save, a blur or a redo is a step of its own.
function seal(state: History): History {
  const last = state.past.at(-1);
  if (last?.group === undefined) return state;
  return { ...state, past: [...state.past.slice(0, -1), { ...last, group: undefined }] };
}

function run(state: History, steps: readonly Step[]): History {
  let { text, places } = state;
  for (const step of steps) {
    text = applySplices(text, step.splices);
    places = move(places, step.moves);
  }
  return { ...state, text, places, changed: state.changed + 1 };
}

function move(places: Places, moves: Moves): Places {
  const names = Object.keys(moves);
  if (names.length === 0) return places;
  const out = new Map(Object.entries(places));
  for (const name of names) {
    const place = moves[name];
    if (place) out.set(name, place);
    else out.delete(name);
  }
  return Object.fromEntries(out);
}

function inverse(places: Places, moves: Moves): Moves {
  return Object.fromEntries(Object.keys(moves).map((name) => [name, Object.hasOwn(places, name) ? places[name] : undefined]));
}

function same(a: Place | undefined, b: Place | undefined): boolean {
  return a?.x === b?.x && a?.y === b?.y;
}
