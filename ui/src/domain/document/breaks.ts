// Offsets of a text against those of an editor that counts every line break as one character. A
// file with CRLF, or with both kinds, keeps its breaks: only what is typed goes through here.

import type { Splice } from "./text";

/** normal is a text as the editor holds it: all breaks are one line feed. */
export function normal(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** Breaks maps offsets between a text and its normal form. */
export class Breaks {
  // Where the breaks of two characters are in the normal form.
  private readonly pairs: number[] = [];
  /** size is the length of the normal form. */
  readonly size: number;

  constructor(text: string) {
    for (let at = text.indexOf("\r\n"); at >= 0; at = text.indexOf("\r\n", at + 2)) this.pairs.push(at - this.pairs.length);
    this.size = text.length - this.pairs.length;
  }

  /** toText is the place in the text of an offset of the normal form. */
  toText(offset: number): number {
    return offset + this.before((pair) => pair < offset);
  }

  /** toNormal is the place in the normal form of an offset of the text; the middle of a break is its begin. */
  toNormal(offset: number): number {
    return offset - this.before((pair, i) => pair + i < offset);
  }

  /** splices turns changes of the normal form into those of the text, with its own kind of break. */
  splices(changes: readonly Splice[], newline: string): Splice[] {
    return changes.map((c) => ({
      from: this.toText(c.from),
      to: this.toText(c.to),
      insert: newline === "\n" ? c.insert : c.insert.replaceAll("\n", newline),
    }));
  }

  // How many pairs are at the front of those for which a test holds, which holds for a front part only.
  private before(test: (pair: number, index: number) => boolean): number {
    let low = 0;
    let high = this.pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (test(this.pairs[middle] ?? 0, middle)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
