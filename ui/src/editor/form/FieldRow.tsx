import { ActionIcon, Tooltip } from "@mantine/core";
import { CircleHelp, RotateCcw } from "lucide-react";
import type { ReactNode } from "react";
import { fieldOf, type Path } from "../../domain/document/path";
import { useSay } from "../../i18n";
import { sentenceOf } from "../text/sentence";
import type { Field } from "./schema";
import type { Target } from "./target";
import { wrong } from "./values";
import { useFieldWords } from "./words";

/** idOf is the id of the control at a path; labels and errors refer to it. */
export function idOf(path: Path): string {
  return `field-${fieldOf(path)}`;
}

interface Errors {
  readonly messages: readonly string[];
  readonly warnings: readonly string[];
  /** text is for controls that show and announce it themselves. */
  readonly text: string | undefined;
  /** ids goes into aria-describedby. */
  readonly described: string | undefined;
  readonly invalid: boolean;
}

/** useErrors gives what is wrong with a field itself: what the server found, else what its schema tells. */
export function useErrors(field: Field, target: Target, deep = true): Errors {
  const { t } = useSay();
  const all = target.problems(field.path).filter((p) => deep || p.path.length <= field.path.length);
  const found = all.filter((p) => p.severity !== "warning");
  const warnings = [...new Set(all.filter((p) => p.severity === "warning").map((p) => sentenceOf(t, p)))];
  const bad = found.length > 0 ? undefined : wrong(field, target.read(field.path));
  const values = { min: field.min ?? 0, max: field.max ?? 0, choices: field.choices.join(", ") };
  const messages = bad ? [t(`form.bad.${bad}`, values)] : [...new Set(found.map((p) => sentenceOf(t, p)))];
  const text = messages.length > 0 ? messages.join(" ") : undefined;
  return {
    messages,
    warnings,
    text,
    described: messages.length > 0 ? `${idOf(field.path)}-error` : undefined,
    invalid: messages.length > 0,
  };
}

interface Props {
  field: Field;
  target: Target;
  errors: Errors;
  /** wide puts the control below its label. */
  wide?: boolean;
  /** quiet leaves the errors to the control. */
  quiet?: boolean;
  /** group is a set of controls, which a label cannot belong to. */
  group?: boolean;
  children: ReactNode;
}

/** FieldRow is a field's label, its control, what is wrong with it, and the way back to the inherited value. */
export function FieldRow({ field, target, errors, wide = false, group = false, quiet = false, children }: Props) {
  const { label, help } = useFieldWords();
  const name = label(field);
  const about = help(field);
  const id = idOf(field.path);
  const set = target.read(field.path) !== undefined || target.mixed(field.path);
  return (
    <div
      className={wide ? "fr wide" : "fr"}
      data-field={fieldOf(field.path)}
      {...(group ? { role: "group", "aria-labelledby": `${id}-label` } : {})}
    >
      <span className="fr-label">
        {group ? (
          <span id={`${id}-label`}>{name}</span>
        ) : (
          <label htmlFor={id} id={`${id}-label`}>
            {name}
          </label>
        )}
        {needed(field, target) && <Required />}
        {about !== "" && <Help name={name} text={about} />}
        {set && !field.required && <Reset name={name} onReset={() => target.write(field.path, undefined)} />}
      </span>
      <div className="fr-control">
        {children}
        {!quiet && errors.text && (
          <p className="fr-error" id={`${id}-error`}>
            {errors.text}
          </p>
        )}
        {errors.warnings.length > 0 && <p className="fr-error warn">{errors.warnings.join(" ")}</p>}
      </div>
    </div>
  );
}

// What a group must have is wanted once the group is there.
function needed(field: Field, target: Target): boolean {
  return field.required && (field.path.length < 2 || target.read(field.path.slice(0, -1)) !== undefined);
}

function Required() {
  const { t } = useSay();
  return (
    <span className="fr-required" title={t("form.required")} aria-hidden="true">
      *
    </span>
  );
}

function Help({ name, text }: { name: string; text: string }) {
  const { t } = useSay();
  return (
    <Tooltip label={text} multiline w={280} events={{ hover: true, focus: true, touch: true }} position="bottom-start">
      <button type="button" className="fr-help" aria-label={t("form.help", { field: name })}>
        <CircleHelp size={13} />
      </button>
    </Tooltip>
  );
}

function Reset({ name, onReset }: { name: string; onReset: () => void }) {
  const { t } = useSay();
  return (
    <ActionIcon className="fr-reset" size={24} aria-label={t("form.reset", { field: name })} title={t("form.resetShort")} onClick={onReset}>
      <RotateCcw size={12} />
    </ActionIcon>
  );
}
