import { Select, Textarea } from "@mantine/core";
import { useState } from "react";
import { useSay } from "../../../i18n";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { shown } from "../values";
import { type ControlProps, leave, usePlaceholder } from "./Simple";

/** joinRules are the words of the server; any other text is a condition. */
export const joinRules = ["all_success", "none_failed", "all_done", "one_success", "all_failed", "one_failed"] as const;

const isRule = (text: string) => joinRules.some((rule) => rule === text);
// No rule and no condition: a condition can hold a space, but not be one.
const ownWords = " ";

/** ConditionControl edits an expression. */
export function ConditionControl({ field, target }: ControlProps) {
  const errors = useErrors(field, target);
  return (
    <FieldRow field={field} target={target} errors={errors} wide quiet>
      <Expression field={field} target={target} id={idOf(field.path)} error={errors.text} placeholder={usePlaceholder(field, target)} />
    </FieldRow>
  );
}

interface Props extends ControlProps {
  id?: string;
  label?: string;
  error: string | undefined;
  placeholder: string | undefined;
}

function Expression({ field, target, id, label, error, placeholder }: Props) {
  const text = shown(target.read(field.path));
  return (
    <Textarea
      id={id}
      className={label === undefined ? undefined : "join-condition"}
      aria-label={label}
      classNames={{ input: "mono" }}
      size="xs"
      autosize
      minRows={1}
      maxRows={8}
      spellCheck={false}
      value={text}
      placeholder={placeholder}
      error={error}
      onChange={(event) => target.type(field.path, event.target.value, { before: text, after: event.target.value })}
      onBlur={() => leave(field, target)}
    />
  );
}

/** JoinControl is one of the rules, or a condition in the author's own words. */
export function JoinControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const errors = useErrors(field, target);
  const text = shown(target.read(field.path));
  const [own, setOwn] = useState(false);
  const condition = text === "" ? own : !isRule(text);
  const choose = (next: string | null) => {
    if (next === null) return;
    setOwn(next === ownWords);
    if (next !== ownWords) target.write(field.path, next);
    else if (isRule(text)) target.write(field.path, undefined);
  };
  return (
    <FieldRow field={field} target={target} errors={errors} wide quiet>
      <Select
        id={idOf(field.path)}
        data={[
          ...joinRules.map((rule) => ({ value: rule, label: `${rule}: ${t(`form.join.${rule}`)}` })),
          { value: ownWords, label: t("form.join.condition") },
        ]}
        value={condition ? ownWords : text === "" ? null : text}
        placeholder={usePlaceholder(field, target)}
        error={condition ? undefined : errors.text}
        onChange={choose}
      />
      {condition && (
        <Expression
          field={field}
          target={target}
          label={t("form.join.conditionText")}
          error={errors.text}
          placeholder={'load.state == "success"'}
        />
      )}
    </FieldRow>
  );
}
