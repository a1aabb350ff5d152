import type { Language } from "./languages";
import type { KnownName } from "./names";

/** CodeFieldProps are those of a field for a script, a query, a body. */
export interface CodeFieldProps {
  /** value is the whole text; line breaks of it that are CRLF stay. */
  readonly value: string;
  /** onChange is called with each key press: make it one group of the document's history. */
  readonly onChange: (value: string) => void;
  readonly language: Language;
  /** names are completed behind `$` and `${`, with a sample value and where it comes from. */
  readonly names?: readonly KnownName[];
  /** problems are marked at lines of the value, counted from 1; keep the same list while nothing changes. */
  readonly problems?: readonly { readonly message: string; readonly severity?: "error" | "warning"; readonly line?: number }[];
  /** label is shown above the field, and names it. */
  readonly label: string;
  /** error is shown below the field. */
  readonly error?: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly readOnly?: boolean;
  /** steps take undo and redo where the text is no part of the document around it. */
  readonly steps?: { readonly undo: () => void; readonly redo: () => void };
  /** onBlur seals the step of the history, where the caller wants that. */
  readonly onBlur?: () => void;
}
