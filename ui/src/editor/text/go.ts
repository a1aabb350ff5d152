// Ways from a problem to its place. Views are loaded when they are first shown, so that the last
// wish is kept until one can fulfil it.

import type { Path } from "../../domain/document/path";
import type { Span } from "../../domain/document/text";

type Show = (range: Span, focus: boolean) => void;

let shower: Show | undefined;
let wish: { range: Span; focus: boolean } | undefined;

/** onShow takes the wishes to see a range of the text, until the answer is called. */
export function onShow(show: Show): () => void {
  shower = show;
  if (wish) {
    const { range, focus } = wish;
    wish = undefined;
    show(range, focus);
  }
  return () => {
    if (shower === show) shower = undefined;
  };
}

/** showRange shows a range of the text, now or as soon as a text view is there. */
export function showRange(range: Span, focus: boolean): void {
  if (shower) shower(range, focus);
  else wish = { range, focus };
}

/** fieldEvent asks the form to show a field; its detail is a FieldWish. */
export const fieldEvent = "porpoise:field";

/** FieldWish is a field to show: of a task, or of the workflow where task is undefined. */
export interface FieldWish {
  readonly task: string | undefined;
  readonly path: Path;
}

/** showField asks the form to show a field, once the choice of the task has been drawn. */
export function showField(detail: FieldWish): void {
  requestAnimationFrame(() => requestAnimationFrame(() => window.dispatchEvent(new CustomEvent<FieldWish>(fieldEvent, { detail }))));
}
