import { useState } from "react";
import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { useDocument } from "../../context";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { refusalOf, renameTo } from "../naming";
import type { Field } from "../schema";
import type { Target } from "../target";
import { Draft } from "./Draft";

interface Props {
  field: Field;
  target: Target;
  task: Task;
}

/** NameControl renames a task when it is left; the needs and references of all others follow. */
export function NameControl({ field, target, task }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const found = useErrors(field, target);
  const [draft, setDraft] = useState<{ text: string; of: string }>();
  const text = draft?.of === task.name ? draft.text : undefined;
  const why = text === undefined || text === task.name ? undefined : refusalOf(t, doc, text, task.name);
  const errors =
    why === undefined ? found : { messages: [why], warnings: [], text: why, described: `${idOf(field.path)}-error`, invalid: true };
  const commit = (name: string) => refusalOf(t, doc, name, task.name) === undefined && renameTo(doc, task, name);
  return (
    <FieldRow field={field} target={target} errors={errors}>
      <Draft
        id={idOf(field.path)}
        className="fi"
        value={task.name}
        aria-required
        aria-invalid={errors.invalid || undefined}
        aria-describedby={errors.described}
        onCommit={commit}
        onDraft={(next) => setDraft(next === undefined ? undefined : { text: next, of: task.name })}
      />
    </FieldRow>
  );
}
