// Which lines are a task's, and which task is at a line.

import { type Reading, tasksOf } from "../../domain/document/read";
import { lineStart, type Span } from "../../domain/document/text";

/** TaskLines are the lines of all tasks of one reading, in the order of the text. */
export class TaskLines {
  private readonly starts: readonly number[];
  private readonly end: number;
  private readonly last: number;
  private readonly names: readonly string[];

  constructor(reading: Reading) {
    const list = reading.good ? tasksOf(reading.root) : undefined;
    const { text, model } = reading;
    // In a flow list, as JSON has it, a task begins at its brace: others may stand on its line.
    this.starts = (list?.items ?? []).map((item) => (list?.flow ? item.value.from : lineStart(text, item.dash)));
    this.end = list ? Math.max(list.to, contentBelow(text, list.to)) : 0;
    this.last = list?.to ?? 0;
    this.names = list ? model.tasks.map((task) => task.name) : [];
  }

  /** at names the task whose lines hold an offset of the text. */
  at(offset: number): string | undefined {
    if (offset > this.end) return undefined;
    let low = 0;
    let high = this.starts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.starts[middle] ?? 0) <= offset) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : this.names[low - 1] || undefined;
  }

  /** of gives the range of each of these tasks that exists. */
  of(tasks: readonly string[]): Span[] {
    const wanted = new Set(tasks);
    return this.names.flatMap((name, i) => {
      const from = this.starts[i];
      if (from === undefined || !wanted.has(name)) return [];
      return [{ from, to: Math.max(from, (this.starts[i + 1] ?? this.last + 1) - 1) }];
    });
  }
}

// What follows the last task on its own line, or as blank lines, is still its.
function contentBelow(text: string, from: number): number {
  const next = /\n[^\s]/.exec(text.slice(from));
  return next ? from + next.index : text.length;
}
