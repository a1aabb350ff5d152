// Offsets and splices: the only way in which the editor changes a text.

/** Splice replaces the characters from..to of a text by insert. Offsets count UTF-16 units. */
export interface Splice {
  readonly from: number;
  readonly to: number;
  readonly insert: string;
}

/** Span is a half-open range of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Position counts lines and columns from 1, as the server's findings do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/**
 * ordered returns splices as they follow each other in the text; inserts at one place keep
 * their order. It throws where two overlap: that is a mistake of the caller, and applying them
 * would lose text.
 */
export function ordered(splices: readonly Splice[]): Splice[] {
  const out = [...splices].sort((a, b) => a.from - b.from || a.to - b.to);
  for (let i = 1; i < out.length; i++) {
    const before = out[i - 1];
    const here = out[i];
    if (before && here && here.from < before.to) {
      throw new Error(`splices overlap at ${here.from}`);
    }
  }
  return out;
}

/** applySplices returns text with all splices done. All offsets refer to text as it is given. */
export function applySplices(text: string, splices: readonly Splice[]): string {
  let out = "";
  let at = 0;
  for (const s of ordered(splices)) {
    out += text.slice(at, s.from) + s.insert;
    at = s.to;
  }
  return out + text.slice(at);
}

/** invertSplices returns the splices that lead from the changed text back to text. */
export function invertSplices(text: string, splices: readonly Splice[]): Splice[] {
  let shift = 0;
  return ordered(splices).map((s) => {
    const from = s.from + shift;
    shift += s.insert.length - (s.to - s.from);
    return { from, to: from + s.insert.length, insert: text.slice(s.from, s.to) };
  });
}

/** differ returns the one splice that leads from before to after: all between the common ends. */
export function differ(before: string, after: string): Splice[] {
  if (before === after) return [];
  const most = Math.min(before.length, after.length);
  let head = 0;
  while (head < most && before.charCodeAt(head) === after.charCodeAt(head)) head++;
  let tail = 0;
  while (tail < most - head && before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)) tail++;
  return [{ from: head, to: before.length - tail, insert: after.slice(head, after.length - tail) }];
}

/** mapOffset tells where an offset of the old text is after the splices; inside a replaced range it goes to its end. */
export function mapOffset(offset: number, splices: readonly Splice[]): number {
  let shift = 0;
  for (const s of ordered(splices)) {
    if (s.from > offset) break;
    if (s.to > offset) return s.from + shift + s.insert.length;
    shift += s.insert.length - (s.to - s.from);
  }
  return offset + shift;
}

/** Lines finds lines and columns of a text by bisection. */
export class Lines {
  private readonly starts: number[] = [0];

  constructor(private readonly text: string) {
    for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) this.starts.push(at + 1);
  }

  position(offset: number): Position {
    const line = this.index(offset);
    return { line: line + 1, column: offset - (this.starts[line] ?? 0) + 1 };
  }

  /** offset is the place of a line and column; places outside the text go to its nearest end. */
  offset(line: number, column: number): number {
    const start = this.starts[Math.max(0, line - 1)];
    return start === undefined ? this.text.length : Math.min(this.text.length, start + Math.max(0, column - 1));
  }

  /** span is a whole line without its break. */
  span(line: number): Span {
    const from = this.offset(line, 1);
    return { from, to: contentEnd(this.text, from) };
  }

  private index(offset: number): number {
    let low = 0;
    let high = this.starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** lineStart is the first offset of the line that holds offset. */
export function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

/** contentEnd is the end of the line that holds offset, before its break. */
export function contentEnd(text: string, offset: number): number {
  const at = text.indexOf("\n", offset);
  if (at < 0) return text.length;
  return at > offset && text[at - 1] === "\r" ? at - 1 : at;
}

/** nextLine is the first offset of the line after the one that holds offset, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const at = text.indexOf("\n", offset);
  return at < 0 ? text.length : at + 1;
}

/** breakOf is how a text ends its lines. */
export function breakOf(text: string): string {
  const at = text.indexOf("\n");
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}
