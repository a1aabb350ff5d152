import { Combobox, Pill, PillsInput, useCombobox } from "@mantine/core";
import { useState } from "react";
import { useSay } from "../../../i18n";
import { useDoc } from "../../context";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import type { Offer, Offers } from "../needs";
import type { ControlProps } from "./Simple";

interface Props extends ControlProps {
  names: readonly string[];
  /** offers are asked for while the list is open. */
  offers: (letters: string) => Offers;
  /** label names the list of the offers. */
  label: string;
  placeholder: string;
  onChoose: (name: string) => void;
  onDrop: (name: string) => void;
}

const none: Offers = { offers: [], more: 0 };

/** TaskPills is a list of tasks as chips with a list to choose from; what cannot be chosen says why. */
export function TaskPills({ field, target, names, offers, label, placeholder, onChoose, onDrop }: Props) {
  const { t } = useSay();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const errors = useErrors(field, target);
  const [letters, setLetters] = useState("");
  const box = useCombobox({ onDropdownClose: () => box.resetSelectedOption() });
  const found = box.dropdownOpened ? offers(letters) : none;
  const known = new Set(tasks.map((x) => x.name));
  const choose = (name: string) => {
    onChoose(name);
    setLetters("");
    box.updateSelectedOptionIndex();
  };
  return (
    <FieldRow field={field} target={target} errors={errors} wide quiet>
      <Combobox store={box} onOptionSubmit={choose} size="xs">
        <Combobox.DropdownTarget>
          <PillsInput size="xs" id={idOf(field.path)} error={errors.text} onClick={() => box.openDropdown()}>
            <Pill.Group>
              {[...new Set(names)].map((name) => (
                <Pill
                  key={name}
                  className={known.has(name) ? undefined : "unknown-need"}
                  withRemoveButton
                  onRemove={() => onDrop(name)}
                  removeButtonProps={{ "aria-label": t("form.needs.remove", { task: name }), tabIndex: 0, "aria-hidden": false }}
                >
                  {name}
                </Pill>
              ))}
              <Combobox.EventsTarget>
                <PillsInput.Field
                  value={letters}
                  placeholder={placeholder}
                  onFocus={() => box.openDropdown()}
                  onBlur={() => {
                    box.closeDropdown();
                    setLetters("");
                  }}
                  onChange={(event) => {
                    setLetters(event.currentTarget.value);
                    box.openDropdown();
                    box.updateSelectedOptionIndex();
                  }}
                  onKeyDown={(event) => {
                    const last = names.at(-1);
                    if (event.key === "Backspace" && letters === "" && last !== undefined) onDrop(last);
                  }}
                />
              </Combobox.EventsTarget>
            </Pill.Group>
          </PillsInput>
        </Combobox.DropdownTarget>
        <Combobox.Dropdown>
          <Combobox.Options mah={240} className="needs-offers" aria-label={label}>
            {found.offers.map((o) => (
              <Combobox.Option key={o.name} value={o.name} disabled={o.cycle}>
                <span>{o.name}</span>
                <Hint offer={o} />
              </Combobox.Option>
            ))}
            {found.offers.length === 0 && <Combobox.Empty>{t("form.needs.none")}</Combobox.Empty>}
            {found.more > 0 && <Combobox.Footer>{t("form.needs.more", { count: found.more })}</Combobox.Footer>}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </FieldRow>
  );
}

function Hint({ offer }: { offer: Offer }) {
  const { t } = useSay();
  const words = offer.cycle ? t("form.needs.cycle") : offer.adds ? t("form.tasks.adds") : undefined;
  return words && <span className="faint"> {words}</span>;
}
