import { Combobox, Pill, PillsInput, useCombobox } from "@mantine/core";
import { useState } from "react";
import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { connect, disconnect } from "../../commands";
import { useDoc, useDocument } from "../../context";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { offersFor } from "../needs";
import type { Field } from "../schema";
import type { Target } from "../target";

interface Props {
  field: Field;
  target: Target;
  task: Task;
}

/** NeedsControl has the tasks that must be done before, as chips; what cannot be needed says why. */
export function NeedsControl({ field, target, task }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const errors = useErrors(field, target);
  const [letters, setLetters] = useState("");
  const box = useCombobox({ onDropdownClose: () => box.resetSelectedOption() });
  const { offers, more } = box.dropdownOpened ? offersFor(tasks, task, letters) : { offers: [], more: 0 };
  const known = new Set(tasks.map((x) => x.name));
  const drop = (name: string) => disconnect(doc, [{ from: name, to: task.name }]);
  const choose = (name: string) => {
    connect(doc, name, task.name);
    setLetters("");
    box.updateSelectedOptionIndex();
  };
  return (
    <FieldRow field={field} target={target} errors={errors} wide quiet>
      <Combobox store={box} onOptionSubmit={choose} size="xs">
        <Combobox.DropdownTarget>
          <PillsInput size="xs" id={idOf(field.path)} error={errors.text} onClick={() => box.openDropdown()}>
            <Pill.Group>
              {[...new Set(task.needs)].map((name) => (
                <Pill
                  key={name}
                  className={known.has(name) ? undefined : "unknown-need"}
                  withRemoveButton
                  onRemove={() => drop(name)}
                  removeButtonProps={{ "aria-label": t("form.needs.remove", { task: name }), tabIndex: 0, "aria-hidden": false }}
                >
                  {name}
                </Pill>
              ))}
              <Combobox.EventsTarget>
                <PillsInput.Field
                  value={letters}
                  placeholder={t("form.needs.add")}
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
                    const last = task.needs.at(-1);
                    if (event.key === "Backspace" && letters === "" && last !== undefined) drop(last);
                  }}
                />
              </Combobox.EventsTarget>
            </Pill.Group>
          </PillsInput>
        </Combobox.DropdownTarget>
        <Combobox.Dropdown>
          <Combobox.Options mah={240} className="needs-offers" aria-label={t("form.needs.offers")}>
            {offers.map((o) => (
              <Combobox.Option key={o.name} value={o.name} disabled={o.cycle}>
                <span>{o.name}</span>
                {o.cycle && <span className="faint"> {t("form.needs.cycle")}</span>}
              </Combobox.Option>
            ))}
            {offers.length === 0 && <Combobox.Empty>{t("form.needs.none")}</Combobox.Empty>}
            {more > 0 && <Combobox.Footer>{t("form.needs.more", { count: more })}</Combobox.Footer>}
          </Combobox.Options>
        </Combobox.Dropdown>
      </Combobox>
    </FieldRow>
  );
}
