// Field paths as the server writes them: tasks[3].needs[0], env.HOME, headers["X-Y z"].

import type { Span } from "./text";
import { type Entry, entryOf, type Node } from "./tree";

/** Path is a place in a document: keys of maps and indices of lists. */
export type Path = readonly (string | number)[];

/** parsePath reads a field path. What it cannot read ends the path: the nearest place that is known wins. */
export function parsePath(field: string): Path {
  const out: (string | number)[] = [];
  let rest = field;
  while (rest !== "") {
    const quoted = /^\[("(?:[^"\\]|\\.)*")\]/.exec(rest);
    const index = /^\[(\d+)\]/.exec(rest);
    const name = /^\.?([^.[]+)/.exec(rest);
    if (quoted?.[1] !== undefined) {
      const text = unquote(quoted[1]);
      if (text === undefined) break;
      out.push(text);
    } else if (index?.[1] !== undefined) out.push(Number(index[1]));
    else if (name?.[1] !== undefined) out.push(name[1]);
    else break;
    rest = rest.slice((quoted ?? index ?? name)?.[0].length ?? rest.length);
  }
  return out;
}

// Go quotes with \x and \U too, which JSON does not know.
function unquote(text: string): string | undefined {
  const json = text
    .replace(/\\x([0-9a-f]{2})/g, "\\u00$1")
    .replace(/\\a/g, "\\u0007")
    .replace(/\\v/g, "\\u000b")
    .replace(/\\U([0-9a-f]{8})/g, (_, hex: string) => String.fromCodePoint(Math.min(0x10ffff, Number.parseInt(hex, 16))));
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

/** fieldOf writes a path as the server does. */
export function fieldOf(path: Path): string {
  let out = "";
  for (const step of path) {
    if (typeof step === "number") out += `[${step}]`;
    else if (!/^[\w-]+$/.test(step)) out += `[${JSON.stringify(step)}]`;
    else out += out === "" ? step : `.${step}`;
  }
  return out;
}

/** Place is where a path was found: its value, its key if it has one, and how many steps of the path led there. */
export interface Place {
  readonly node: Node;
  readonly key: Span | undefined;
  readonly depth: number;
}

/** locate finds a path, or the nearest place around it that exists. */
export function locate(root: Node, path: Path): Place {
  let place: Place = { node: root, key: undefined, depth: 0 };
  for (const step of path) {
    const next = below(place, step);
    if (!next) break;
    place = next;
  }
  return place;
}

function below(place: Place, step: string | number): Place | undefined {
  const { node, depth } = place;
  if (typeof step === "number") {
    const item = node.kind === "list" ? node.items[step] : undefined;
    return item && { node: item.value, key: undefined, depth: depth + 1 };
  }
  const entry = entryOf(node, step);
  return entry && { node: entry.value, key: { from: entry.keyFrom, to: entry.keyTo }, depth: depth + 1 };
}

/** nodeAt returns the node at exactly this path. */
export function nodeAt(root: Node | null, path: Path): Node | undefined {
  if (!root) return undefined;
  const place = locate(root, path);
  return place.depth === path.length ? place.node : undefined;
}

/** pathAt returns the deepest path whose range holds offset: where a caret stands. */
export function pathAt(root: Node, offset: number): Path {
  const path: (string | number)[] = [];
  let node: Node | undefined = root;
  while (node) {
    let next: Node | undefined;
    if (node.kind === "map") {
      const entry: Entry | undefined = node.entries.find((e) => e.keyFrom <= offset && offset <= Math.max(e.value.to, e.colon + 1));
      if (entry) path.push(entry.key);
      next = entry?.value;
    } else if (node.kind === "list") {
      const index = node.items.findIndex((item) => item.dash <= offset && offset <= Math.max(item.value.to, item.dash + 1));
      if (index >= 0) path.push(index);
      next = node.items[index]?.value;
    }
    node = next;
  }
  return path;
}
