// Edits of fields of several tasks at once, and of the keys of maps: what forms and lists do.

import { done, type Edit, onGood, refuse, removeIn, setField, setIn } from "./edit";
import { isPlain, keyText } from "./format";
import { locate, nodeAt, type Path } from "./path";
import { type Good, type Reading, read, tasksOf } from "./read";
import { applySplices, differ, type Splice } from "./text";
import { entryOf, type MapNode, type Value } from "./tree";

/** Spot is a task as a view knows it: its place tells two tasks of one name apart. */
export interface Spot {
  readonly index: number;
  readonly name: string;
}

/** indexOf finds a task again after the text has changed elsewhere. */
export function indexOf(reading: Reading, spot: Spot): number {
  const { tasks } = reading.model;
  return tasks[spot.index]?.name === spot.name ? spot.index : tasks.findIndex((t) => t.name === spot.name);
}

/** setFields gives a field of several tasks one value, undefined takes it away: one edit for all. */
export function setFields(reading: Reading, spots: readonly Spot[], path: Path, value: Value | undefined): Edit {
  return onGood(reading, (good) => {
    const splices: Splice[] = [];
    for (const spot of spots) {
      const node = taskAt(good, spot);
      if (!node) return refuse("no_such_task", { task: spot.name });
      const own = value === undefined ? removeIn(good, node, path) : setIn(good, node, path, value);
      if (!own) return refuse("no_such_field", { field: path.join(".") });
      splices.push(...own);
    }
    return done(splices);
  });
}

/** typeFields is setFields for what is being typed: quotes that only a space at the end has asked for go with it. */
export function typeFields(reading: Reading, spots: readonly Spot[], path: Path, value: Value): Edit {
  return onGood(reading, (good) => {
    const nodes = spots.map((spot) => taskAt(good, spot));
    const loose = nodes.flatMap((node) => unquoted(node, path, value));
    return loose.length === spots.length ? done(loose) : setFields(reading, spots, path, value);
  });
}

/** typeField is setField for what is being typed. */
export function typeField(reading: Reading, path: Path, value: Value): Edit {
  const loose = reading.good ? unquoted(reading.root ?? undefined, path, value) : [];
  return loose.length > 0 ? done(loose) : setField(reading, path, value);
}

function unquoted(root: MapNode | undefined, path: Path, value: Value): Splice[] {
  const node = root && nodeAt(root, path);
  if (node?.kind !== "scalar" || node.style !== "single" || typeof value !== "string" || typeof node.value !== "string") return [];
  return isPlain(value, false) && isPlain(value, true) && !isPlain(node.value, true)
    ? [{ from: node.from, to: node.to, insert: value }]
    : [];
}

function taskAt(good: Good, spot: Spot): MapNode | undefined {
  const node = tasksOf(good.root)?.items[indexOf(good, spot)]?.value;
  return node?.kind === "map" ? node : undefined;
}

/** setType gives a task another type, and takes the fields away that the new type does not have. */
export function setType(reading: Reading, spot: Spot, type: string, gone: readonly string[]): Edit {
  return inTurn(reading, [
    (r) => setFields(r, [spot], ["type"], type),
    ...gone.map((key) => (r: Reading) => setFields(r, [spot], [key], undefined)),
  ]);
}

/** inTurn does several edits, each on the text that the one before has left, as one. */
export function inTurn(reading: Reading, steps: readonly ((reading: Reading) => Edit)[]): Edit {
  let here = reading;
  for (const step of steps) {
    const edit = step(here);
    if (!edit.ok) return edit;
    here = read(applySplices(here.text, edit.splices), here);
  }
  return done(differ(reading.text, here.text));
}

/** renameKey gives the key at a path another name; its value and its comments stay. */
export function renameKey(reading: Reading, path: Path, to: string): Edit {
  return onGood(reading, (good) => {
    const from = path.at(-1);
    const place = good.root && locate(good.root, path);
    const map = good.root && locate(good.root, path.slice(0, -1)).node;
    if (!place?.key || place.depth !== path.length || from === undefined) return refuse("no_such_field", { field: path.join(".") });
    if (to === String(from)) return done([]);
    if (entryOf(map, to)) return refuse("name_taken", { name: to });
    return done([{ ...place.key, insert: keyText(to, good.style.json) }]);
  });
}
