import { Combobox, TextInput, useCombobox } from "@mantine/core";
import { type ReactNode, useEffect, useId, useMemo, useRef, useState } from "react";
import { useSay } from "../../i18n";

/** Choice is a row of a PickList. */
export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly icon?: ReactNode;
  readonly hint?: string;
  /** Why it cannot be picked. */
  readonly refused?: string;
}

interface Props {
  label: string;
  choices: readonly Choice[];
  onPick: (value: string) => void;
  onClose: () => void;
  /** The upper left corner, in the pixels of the canvas. */
  at: { x: number; y: number };
}

// More than these nobody reads: the field narrows them down.
const shownMax = 50;

/** PickList is a small window with a field and a list: type to narrow it, arrows and Enter pick, Escape closes. */
export function PickList({ label, choices, onPick, onClose, at }: Props) {
  const { t } = useSay();
  const combobox = useCombobox({ opened: true });
  const [text, setText] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const list = useId();
  const found = useMemo(() => narrowed(choices, text), [choices, text]);
  const shown = found.slice(0, shownMax);
  // It was asked for by a key or a click: that is where the person goes on.
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins at its first row
  useEffect(() => {
    combobox.selectFirstOption();
  }, [text]);
  useEffect(() => {
    const outside = (event: PointerEvent) => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) onClose();
    };
    window.addEventListener("pointerdown", outside, true);
    return () => window.removeEventListener("pointerdown", outside, true);
  }, [onClose]);
  return (
    <div
      ref={box}
      className="pick-list"
      role="dialog"
      aria-label={label}
      style={{ left: at.x, top: at.y }}
      onKeyDown={(event) => {
        if (event.key !== "Escape" && event.key !== "Tab") return;
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <Combobox store={combobox} onOptionSubmit={onPick}>
        {/* Said here, because Mantine knows the list only after it was drawn once. */}
        <Combobox.EventsTarget withExpandedAttribute aria-expanded aria-controls={list}>
          <TextInput
            ref={field}
            role="combobox"
            aria-label={label}
            placeholder={label}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        </Combobox.EventsTarget>
        <Combobox.Options id={list} aria-label={label} className="pick-rows">
          {shown.map((c) => (
            <Combobox.Option key={c.value} value={c.value} disabled={c.refused !== undefined}>
              {c.icon}
              <span className="pick-name">{c.label}</span>
              <span className="faint">{c.refused ?? c.hint}</span>
            </Combobox.Option>
          ))}
          {shown.length === 0 && <Combobox.Empty>{t("palette.nothing")}</Combobox.Empty>}
        </Combobox.Options>
        {found.length > shown.length && <p className="faint pick-more">{t("canvas.pickMore", { count: found.length - shown.length })}</p>}
      </Combobox>
    </div>
  );
}

/** narrowed gives the choices that hold a text, those that can be picked first. */
export function narrowed(choices: readonly Choice[], text: string): Choice[] {
  const wanted = text.trim().toLowerCase();
  const rank = (c: Choice) => (c.refused === undefined ? 0 : 4) + (c.label.toLowerCase().startsWith(wanted) ? 0 : 1);
  return choices.filter((c) => c.label.toLowerCase().includes(wanted)).sort((a, b) => rank(a) - rank(b));
}
