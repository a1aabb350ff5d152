import { type InputHTMLAttributes, useEffect, useRef, useState } from "react";

interface Props extends Omit<InputHTMLAttributes<HTMLInputElement>, "value" | "onChange"> {
  value: string;
  /** onCommit takes what was written when the field is left; false keeps it in the field as it is. */
  onCommit: (text: string) => boolean;
  onDraft?: (text: string | undefined) => void;
}

interface Open {
  readonly text: string;
  /** from is the value that stood there: where it has become another one, what was written is not about it. */
  readonly from: string;
  readonly commit: (text: string) => boolean;
}

/** Draft is a field whose text counts when it is left or with Enter; Escape takes it back. Going away with it open commits it. */
export function Draft({ value, onCommit, onDraft, ...rest }: Props) {
  const [draft, setDraft] = useState<Open>();
  const last = useRef<Open>(undefined);
  const text = draft?.from === value ? draft.text : undefined;
  const note = (next: string | undefined) => {
    const open = next === undefined ? undefined : { text: next, from: value, commit: onCommit };
    last.current = open;
    setDraft(open);
    onDraft?.(next);
  };
  const commit = () => {
    if (text !== undefined && (text === value || onCommit(text))) note(undefined);
  };
  useEffect(
    () => () => {
      const open = last.current;
      if (open && open.text !== open.from) open.commit(open.text);
    },
    [],
  );
  return (
    <input
      {...rest}
      value={text ?? value}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => note(event.target.value)}
      onBlur={commit}
      onKeyDown={(event) => {
        if (event.key === "Enter" && !event.nativeEvent.isComposing) commit();
        else if (event.key === "Escape" && text !== undefined) {
          event.stopPropagation();
          note(undefined);
        }
      }}
    />
  );
}
