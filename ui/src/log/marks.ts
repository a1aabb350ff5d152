import type { Piece } from "./ansi";
import type { Hit } from "./api";
import type { Wish } from "./finder";

export type Range = [start: number, end: number];

/** ranges says where a wish is found in a line as it is shown. An expression's matches are the server's:
 * its kind is not the browser's, and one of the browser's can take for ever. */
export function ranges(text: string, wish: Wish, hit: Hit | undefined): Range[] {
  if (wish.text === "") return [];
  if (wish.regex) return hit ? matches(hit) : [];
  const found: Range[] = [];
  const wanted = new RegExp(wish.text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"), wish.case ? "g" : "gi");
  for (const m of text.matchAll(wanted)) {
    found.push([m.index, m.index + m[0].length]);
    if (found.length === maxMarks) break;
  }
  return found;
}

// The first match, then start and length of each further one.
function matches({ start, length, more }: Hit): Range[] {
  const found: Range[] = length > 0 ? [[start, start + length]] : [];
  for (let i = 0; more && i + 1 < more.length; i += 2) {
    const [from = 0, long = 0] = more.slice(i, i + 2);
    found.push([from, from + long]);
  }
  return found;
}

/** maxMarks bounds the marks of a line. */
const maxMarks = 200;

export interface MarkedPiece extends Piece {
  marked?: boolean;
}

/** marked cuts pieces at the ranges, which are in order and apart. */
export function marked(pieces: Piece[], found: Range[]): MarkedPiece[] {
  if (found.length === 0) return pieces;
  const out: MarkedPiece[] = [];
  let at = 0;
  let next = 0;
  for (const piece of pieces) {
    const end = at + piece.text.length;
    let from = at;
    while (next < found.length) {
      const range = found[next];
      if (!range || range[0] >= end) break;
      const [start, stop] = [Math.max(range[0], at), Math.min(range[1], end)];
      if (start > from) out.push({ ...piece, text: piece.text.slice(from - at, start - at) });
      if (stop > start) out.push({ ...piece, text: piece.text.slice(start - at, stop - at), marked: true });
      from = Math.max(from, stop);
      if (range[1] > end) break; // it goes on in the next piece
      next++;
    }
    if (from < end) out.push({ ...piece, text: piece.text.slice(from - at) });
    at = end;
  }
  return out;
}
