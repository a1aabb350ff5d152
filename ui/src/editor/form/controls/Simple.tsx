import { Select, Switch, TagsInput, Textarea } from "@mantine/core";
import { type ChangeEvent, useMemo } from "react";
import { fieldOf } from "../../../domain/document/path";
import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { CodeField, type Language } from "../../code/CodeField";
import { useDoc } from "../../context";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { knownNames } from "../names";
import type { Field } from "../schema";
import type { Target } from "../target";
import { listOf, numberOr, shown } from "../values";
import { useFieldWords } from "../words";

/** ControlProps is what every control is given. */
export interface ControlProps {
  field: Field;
  target: Target;
}

/** usePlaceholder says in grey what holds where the field is empty, and where that comes from. */
export function usePlaceholder(field: Field, target: Target): string | undefined {
  const { t } = useSay();
  if (target.mixed(field.path)) return t("form.mixed");
  if (field.standard !== undefined) return t("form.standard", { value: shown(field.standard) });
  return field.example === undefined ? undefined : t("form.example", { value: field.example });
}

/** LineControl edits a text, a number or a duration on one line. An emptied field goes back to what is inherited when it is left. */
export function LineControl({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  const placeholder = usePlaceholder(field, target);
  const text = shown(target.read(field.path));
  const numeric = field.control === "integer" || field.control === "number";
  const change = (event: ChangeEvent<HTMLInputElement>) => {
    const after = event.target.value;
    target.type(field.path, numeric ? numberOr(after) : after, { before: text, after });
  };
  return (
    <FieldRow field={field} target={target} errors={errors}>
      <input
        id={idOf(field.path)}
        className={numeric || field.control === "duration" ? "fi short" : "fi"}
        value={text}
        placeholder={placeholder}
        inputMode={field.control === "integer" ? "numeric" : field.control === "number" ? "decimal" : undefined}
        autoComplete="off"
        spellCheck={false}
        aria-required={field.required || undefined}
        aria-invalid={errors.invalid || undefined}
        aria-describedby={errors.described}
        onChange={change}
        onBlur={() => leave(field, target)}
      />
    </FieldRow>
  );
}

/** leave takes an empty value out of the text, where nothing asks for it. */
export function leave(field: Field, target: Target): void {
  if (!field.required && target.read(field.path) === "") target.write(field.path, undefined);
}

/** TextControl edits a text of several lines. */
export function TextControl({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  const text = shown(target.read(field.path));
  return (
    <FieldRow field={field} target={target} errors={errors} wide quiet>
      <Textarea
        id={idOf(field.path)}
        autosize
        minRows={field.path.length > 1 ? 1 : 2}
        maxRows={12}
        value={text}
        placeholder={usePlaceholder(field, target)}
        error={errors.text}
        onChange={(event) => target.type(field.path, event.target.value, { before: text, after: event.target.value })}
        onBlur={() => leave(field, target)}
      />
    </FieldRow>
  );
}

/** languages are those that the field for code knows. */
const languages: readonly Language[] = ["yaml", "shell", "python", "json", "plain"];

/** ScriptControl edits a program's text. */
export function ScriptControl({ field, target, task }: ControlProps & { task?: Task }) {
  const { t } = useSay();
  const { label, help } = useFieldWords();
  const errors = useErrors(field, target);
  const workflow = useDoc((s) => s.reading.model);
  const names = useMemo(() => (task ? knownNames(t, workflow, task) : []), [t, workflow, task]);
  const text = shown(target.read(field.path));
  return (
    <div className="fr wide" data-field={fieldOf(field.path)}>
      <div className="fr-control">
        <CodeField
          label={label(field)}
          description={text === "" ? help(field) : undefined}
          required={field.required}
          language={languages.find((l) => l === field.language) ?? "plain"}
          value={text}
          names={names}
          error={errors.text}
          onChange={(after) => target.type(field.path, after, { before: text, after })}
        />
      </div>
    </div>
  );
}

/** SwitchControl is a yes or no; no is what holds where nothing is said. */
export function SwitchControl({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  const { t } = useSay();
  const on = target.read(field.path) === true;
  return (
    <FieldRow field={field} target={target} errors={errors}>
      <Switch
        id={idOf(field.path)}
        checked={on}
        label={target.mixed(field.path) ? <span className="faint">{t("form.mixed")}</span> : undefined}
        aria-describedby={errors.described}
        onChange={() => target.write(field.path, on ? undefined : true)}
      />
    </FieldRow>
  );
}

/** ChoiceControl is one of few words. A word that is none of them stays until another is chosen. */
export function ChoiceControl({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  const value = target.read(field.path);
  const text = shown(value);
  const data = text === "" || field.choices.includes(text) ? [...field.choices] : [text, ...field.choices];
  return (
    <FieldRow field={field} target={target} errors={errors} quiet>
      <Select
        id={idOf(field.path)}
        data={data}
        value={text === "" ? null : text}
        placeholder={usePlaceholder(field, target)}
        error={errors.text}
        comboboxProps={{ withinPortal: true }}
        onChange={(next) => next !== null && target.write(field.path, next)}
      />
    </FieldRow>
  );
}

/** ListControl edits a list of words as tags. */
export function ListControl({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  const { t } = useSay();
  const words = listOf(target.read(field.path));
  const grey = usePlaceholder(field, target);
  const write = (next: string[]) =>
    target.write(field.path, next.length === 0 ? undefined : next.map((w) => (field.numbers ? numberOr(w) : w)));
  return (
    <FieldRow field={field} target={target} errors={errors} quiet wide>
      <TagsInput
        id={idOf(field.path)}
        size="xs"
        value={words}
        placeholder={words.length > 0 ? undefined : field.example !== undefined || grey === undefined ? t("form.addTag") : grey}
        error={errors.text}
        acceptValueOnBlur
        splitChars={[",", " "]}
        onChange={write}
      />
    </FieldRow>
  );
}
