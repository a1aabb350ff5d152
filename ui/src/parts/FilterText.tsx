import { TextInput, type TextInputProps } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useState } from "react";

interface Props extends Omit<TextInputProps, "value" | "defaultValue" | "onChange"> {
  value: string; // as the address has it
  onFilter: (value: string | undefined) => void;
  clean?: (text: string) => string; // what of the text may stand here
}

/**
 * FilterText is a field of a list's filter. What is typed counts after a moment; the field stays while it does, so that whoever
 * goes on typing loses nothing. What comes into the address by another way, back or a cleared filter, is taken over.
 */
export function FilterText({ value, onFilter, clean, ...rest }: Props) {
  const [own, setOwn] = useState({ text: value, sent: value, at: value });
  const send = useDebouncedCallback((text: string) => {
    setOwn((o) => ({ ...o, sent: text }));
    onFilter(text || undefined);
  }, 300);
  if (own.at !== value) setOwn({ text: value === own.sent ? own.text : value, sent: value, at: value });
  return (
    <TextInput
      maxLength={200}
      {...rest}
      value={own.text}
      onChange={(e) => {
        const text = clean ? clean(e.currentTarget.value) : e.currentTarget.value;
        setOwn((o) => ({ ...o, text }));
        send(text);
      }}
    />
  );
}
