// The text of the cases: the server keeps it beside the draft, the browser what has not been saved yet.

import type { Task } from "../../domain/document/read";

/** maxKept bounds what a browser keeps of one workflow; a longer text lives as long as the page. */
const maxKept = 256 * 1024;

/** Kept is a text that was not saved yet, and the revision that it was made from. */
export interface Kept {
  readonly text: string;
  readonly revision: number;
}

function keyOf(project: string, workflow: string): string {
  return `porpoise.cases.${project}/${workflow}`;
}

/** keptCases gives the cases that were written in this browser and not saved. */
export function keptCases(project: string, workflow: string): Kept | undefined {
  try {
    const raw = localStorage.getItem(keyOf(project, workflow));
    return raw === null ? undefined : readKept(raw);
  } catch {
    return undefined; // storage is off
  }
}

/** readKept reads what a browser has kept; of a text alone nobody knows what it was made from. */
export function readKept(raw: string): Kept {
  try {
    const v: unknown = JSON.parse(raw);
    if (
      typeof v === "object" &&
      v !== null &&
      "text" in v &&
      "revision" in v &&
      typeof v.text === "string" &&
      typeof v.revision === "number"
    )
      return { text: v.text, revision: v.revision };
  } catch {
    // Cases as they stand.
  }
  return { text: raw, revision: 0 };
}

/** keepCases keeps a text until it is saved; undefined forgets it. */
export function keepCases(project: string, workflow: string, kept: Kept | undefined): void {
  try {
    if (kept === undefined) localStorage.removeItem(keyOf(project, workflow));
    else if (kept.text.length <= maxKept) localStorage.setItem(keyOf(project, workflow), JSON.stringify(kept));
  } catch {
    // Storage is full or off: the text lives as long as the page.
  }
}

/** Begun is what the panel opens with. */
export interface Begun {
  readonly text: string;
  /** seen is the revision that the text was made from. */
  readonly seen: number;
  /** clash says that others were saved since then: neither text may be lost. */
  readonly clash: boolean;
}

/** begunWith puts together what the server keeps and what this browser has not saved. */
export function begunWith(saved: Kept, kept: Kept | undefined, first: string): Begun {
  if (kept === undefined || kept.text === saved.text || (saved.revision === 0 && kept.text === first))
    return { text: saved.revision === 0 ? first : saved.text, seen: saved.revision, clash: false };
  return { text: kept.text, seen: kept.revision, clash: kept.revision !== saved.revision };
}

/** firstCases is what an author begins with: that all goes well, and that the first task of a worker fails. */
export function firstCases(tasks: readonly Pick<Task, "name" | "type">[]): string {
  const worker = tasks.find((t) => ["shell", "python", "http"].includes(t.type));
  const fails = worker
    ? `\n  - name: ${quoted(`${worker.name} fails`)}\n    tasks:\n      ${quoted(worker.name)}: failed\n    expect: failed\n`
    : "";
  return `cases:\n  - name: all goes well\n    expect: success\n${fails}`;
}

function quoted(name: string): string {
  return /^[\p{L}_][\p{L}\p{N}_ -]*$/u.test(name) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(name) ? name : JSON.stringify(name);
}

/** offsetOf is where a line begins, lines counted from 1. */
export function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let n = 1; n < line; n++) {
    const next = text.indexOf("\n", at);
    if (next < 0) return at;
    at = next + 1;
  }
  return at;
}
