// The text view and the document, in step both ways. What is typed goes out as splices; what others
// change comes in as splices, so that scroll and caret stay where they are.

import { setDiagnostics } from "@codemirror/lint";
import { type ChangeSpec, type Extension, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, ViewPlugin, type ViewUpdate } from "@codemirror/view";
import { Breaks, normal } from "../../domain/document/breaks";
import { applySplices, breakOf, differ, type Span, type Splice } from "../../domain/document/text";
import type { Problem } from "../../domain/document/validate";
import { outside, splicesOf } from "../code/base";
import type { Document, DocumentState } from "../document";
import { TaskLines } from "./place";
import { cause, stepsBetween } from "./steps";

const choose = StateEffect.define<readonly Span[]>();

const chosenSpans = StateField.define<readonly Span[]>({
  create: () => [],
  update(spans, tr) {
    let next = tr.docChanged ? spans.map((s) => ({ from: tr.changes.mapPos(s.from, 1), to: tr.changes.mapPos(s.to, -1) })) : spans;
    for (const e of tr.effects) if (e.is(choose)) next = e.value;
    return next;
  },
});

const chosenLine = Decoration.line({ class: "cm-chosen" });

// Only lines that are drawn get a mark: two thousand chosen tasks are as many lines as the file has.
const marks = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;
    constructor(view: EditorView) {
      this.decorations = marked(view);
    }
    update(u: ViewUpdate) {
      if (u.docChanged || u.viewportChanged || u.startState.field(chosenSpans) !== u.state.field(chosenSpans))
        this.decorations = marked(u.view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function marked(view: EditorView): DecorationSet {
  const out = new RangeSetBuilder<Decoration>();
  const { doc } = view.state;
  let done = -1;
  for (const span of view.state.field(chosenSpans)) {
    const [low, high] = [Math.max(span.from, view.viewport.from), Math.min(span.to, view.viewport.to)];
    for (let at = low; at <= high; ) {
      const line = doc.lineAt(at);
      if (line.from > done) out.add(line.from, line.from, chosenLine);
      done = line.from;
      at = line.to + 1;
    }
  }
  return out.finish();
}

/** tries is in how many frames the chosen task is brought into sight: a second, on a machine that keeps up. */
const tries = 60;

/** Sync keeps one editor and one document in step. */
export class Sync {
  private view: EditorView | undefined;
  private breaks: Breaks;
  private lines: TaskLines;
  private read: DocumentState["reading"];
  private shown: DocumentState["problems"] | undefined;
  // Set while the document takes what came from here.
  private own = false;
  // The next try to bring the chosen task into sight, until the person goes elsewhere.
  private frame = 0;

  constructor(
    private readonly doc: Document,
    private say: (problem: Problem) => string,
  ) {
    this.breaks = new Breaks(doc.state.history.text);
    this.read = doc.state.reading;
    this.lines = new TaskLines(this.read);
  }

  /** extension is the editor's part of it. */
  get extension(): Extension {
    return [chosenSpans, marks, EditorView.updateListener.of((u) => this.updated(u))];
  }

  /** begin follows the document until the answer is called. */
  begin(view: EditorView): () => void {
    this.view = view;
    this.mark(false);
    this.diagnose();
    const end = this.doc.store.subscribe((_, before) => this.changed(before));
    this.reach(tries);
    return () => {
      cancelAnimationFrame(this.frame);
      end();
      this.view = undefined;
    };
  }

  /** speak takes the sentences of another language. */
  speak(say: (problem: Problem) => string): void {
    this.say = say;
    this.shown = undefined;
    this.diagnose();
  }

  /** show puts the caret at a range of the document's text. */
  show(range: Span, focus: boolean): void {
    const view = this.view;
    if (!view) return;
    const [from, to] = [this.inView(range.from), this.inView(range.to)];
    view.dispatch({
      selection: { anchor: from, head: to },
      effects: EditorView.scrollIntoView(from, { y: "center" }),
      annotations: outside.of(true),
    });
    this.doc.caret(range.from, range.to);
    if (focus) view.focus();
  }

  private inView(offset: number): number {
    return Math.min(this.breaks.toNormal(offset), this.view?.state.doc.length ?? 0);
  }

  // An editor without a height yet, or whose document is still being read, does not know how far to scroll, and one that was
  // laid out anew meanwhile has scrolled wrongly: it is looked at again in each of the next frames.
  private reach(left: number): void {
    this.frame = requestAnimationFrame(() => {
      const read = this.doc.state.settled && (this.view?.scrollDOM.clientHeight ?? 0) > 0;
      if (left === 0 || (read && this.inSight())) return;
      if (read) this.mark(true);
      this.reach(read ? left - 1 : left);
    });
  }

  private inSight(): boolean {
    const first = this.spans()[0];
    if (!this.view || !first) return true;
    const at = this.view.coordsAtPos(first.from);
    const frame = this.view.scrollDOM.getBoundingClientRect();
    return at !== null && at.top >= frame.top && at.bottom <= frame.bottom;
  }

  private updated(u: ViewUpdate): void {
    if (u.transactions.some((tr) => tr.annotation(outside))) return;
    if (u.docChanged || u.selectionSet) cancelAnimationFrame(this.frame);
    const { anchor, head } = u.state.selection.main;
    if (u.docChanged) {
      const { text } = this.doc.state.history;
      const splices = this.breaks.splices(splicesOf(u.changes), breakOf(text));
      this.own = true;
      try {
        // The caret stands in the text as it will be: its breaks are known only afterwards.
        const after = new Breaks(applySplices(text, splices));
        this.doc.type(splices, { anchor: after.toText(anchor), head: after.toText(head) });
        this.breaks = after;
      } finally {
        this.own = false;
      }
      return;
    }
    if (!u.selectionSet) return;
    this.own = true;
    try {
      this.doc.caret(this.breaks.toText(anchor), this.breaks.toText(head));
      // What is typed elsewhere is a step of its own.
      this.doc.seal();
      this.follow(head);
    } finally {
      this.own = false;
    }
  }

  // The task around the caret is the chosen one. While a text is typed or broken, the choice stays.
  private follow(head: number): void {
    const { settled, reading, history } = this.doc.state;
    if (!settled || !reading.good) return;
    this.refresh();
    const name = this.lines.at(this.breaks.toText(head));
    const { tasks } = history.selection;
    if (name === undefined ? tasks.length === 0 : tasks.length === 1 && tasks[0] === name) return;
    this.doc.select(name === undefined ? [] : [name]);
    this.mark(false);
  }

  private changed(before: DocumentState): void {
    if (this.own || !this.view) return;
    const { history, reading, settled, problems } = this.doc.state;
    if (history.text !== before.history.text) this.take(before);
    const chosen = history.selection.tasks !== before.history.selection.tasks;
    if (chosen || (settled && reading !== before.reading)) this.mark(chosen);
    if (settled && (problems !== this.shown || !before.settled)) this.diagnose();
    if (settled && !before.settled && this.view.hasFocus) this.follow(this.view.state.selection.main.head);
  }

  // Someone else changed the text: the editor's state takes just that.
  private take(before: DocumentState): void {
    const view = this.view;
    if (!view) return;
    const { history } = this.doc.state;
    for (const set of this.sets(before)) view.dispatch({ changes: [...set], annotations: outside.of(true) });
    this.breaks = new Breaks(history.text);
    if (view.state.doc.length !== this.breaks.size) this.restore();
    const entry = cause(before.history, history);
    const stepped = history.future.length > before.history.future.length || (entry && before.history.future[0] === entry);
    if (!stepped || entry?.label !== "type") return;
    const { anchor, head } = history.selection;
    view.dispatch({
      selection: { anchor: this.inView(anchor), head: this.inView(head) },
      scrollIntoView: true,
      annotations: outside.of(true),
    });
  }

  private sets(before: DocumentState): readonly (readonly ChangeSpec[])[] {
    const { history } = this.doc.state;
    const steps = stepsBetween(before.history, history);
    const plain = !before.history.text.includes("\r") && !history.text.includes("\r");
    if (plain) return steps;
    // Half of a break of two characters can be what changed: the normal forms are compared as a whole.
    return [differ(normal(before.history.text), normal(history.text))];
  }

  // The editor must never show another text than the document's.
  private restore(): void {
    const view = this.view;
    const changes: Splice[] = view ? differ(view.state.doc.toString(), normal(this.doc.state.history.text)) : [];
    view?.dispatch({ changes, annotations: outside.of(true) });
  }

  private refresh(): void {
    const { reading } = this.doc.state;
    if (reading === this.read) return;
    this.read = reading;
    this.lines = new TaskLines(reading);
  }

  // The lines of the chosen tasks, as the editor counts.
  private spans(): Span[] {
    this.refresh();
    return this.lines.of(this.doc.state.history.selection.tasks).map((s) => ({ from: this.inView(s.from), to: this.inView(s.to) }));
  }

  private mark(scroll: boolean): void {
    const { settled, reading } = this.doc.state;
    if (!settled || !reading.good || !this.view) return;
    const spans = this.spans();
    const first = spans[0];
    const effects: StateEffect<unknown>[] = [choose.of(spans)];
    if (scroll && first) effects.push(EditorView.scrollIntoView(first.from, { y: "nearest", yMargin: 48 }));
    this.view.dispatch({ effects, annotations: outside.of(true) });
  }

  private diagnose(): void {
    const { problems, settled } = this.doc.state;
    const view = this.view;
    if (!view || !settled || problems === this.shown) return;
    this.shown = problems;
    const found = problems.all.map((p) => ({
      from: this.inView(p.range.from),
      to: Math.max(this.inView(p.range.from), this.inView(p.range.to)),
      severity: p.severity === "warning" ? ("warning" as const) : ("error" as const),
      message: this.say(p),
    }));
    view.dispatch(setDiagnostics(view.state, found));
  }
}
