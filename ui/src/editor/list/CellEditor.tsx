import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import type { TaskType } from "../../api/client";
import type { Task } from "../../domain/document/read";
import { useSay } from "../../i18n";
import { useDocument } from "../context";
import { type Column, commit, textOf } from "./cells";

interface Props {
  task: Task;
  column: Column;
  label: string;
  types: readonly TaskType[];
  onLeave: () => void;
  onStep: (by: 1 | -1) => void;
}

/** CellEditor edits one cell in place: Enter keeps, Escape takes back, Tab keeps and goes on. What is refused stays and says why. */
export function CellEditor({ task, column, label, types, onLeave, onStep }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const [text, setText] = useState(() => textOf(task, column));
  const [why, setWhy] = useState<string>();
  const field = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  const id = useId();
  useEffect(() => field.current?.select(), []);
  const keep = (): boolean => {
    if (over.current) return true;
    const refused = commit(doc, t, task, column, text, types);
    setWhy(refused);
    over.current = refused === undefined;
    return over.current;
  };
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") {
      over.current = true;
      onLeave();
    } else if (event.key === "Enter") {
      if (keep()) onLeave();
    } else if (event.key === "Tab") {
      if (keep()) onStep(event.shiftKey ? -1 : 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <input
        ref={field}
        className="fi list-field"
        value={text}
        aria-label={label}
        aria-invalid={why !== undefined || undefined}
        aria-describedby={why === undefined ? undefined : id}
        // biome-ignore lint/a11y/noAutofocus: the field was asked for by a key or a double click on its cell
        autoFocus
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => {
          setText(event.target.value);
          setWhy(undefined);
        }}
        onKeyDown={press}
        onBlur={() => keep() && onLeave()}
      />
      {why !== undefined && (
        <span className="list-why" id={id} role="alert">
          {why}
        </span>
      )}
    </>
  );
}
