import { Button, Select } from "@mantine/core";
import { useState } from "react";
import type { TaskType } from "../../../api/client";
import { setType } from "../../../domain/document/fields";
import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { useDocument } from "../../context";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { type Field, lostBy } from "../schema";
import type { Target } from "../target";

interface Props {
  field: Field;
  target: Target;
  task: Task;
  types: readonly TaskType[];
}

/** TypeControl changes the type. Fields that the new type does not have go only after a word. */
export function TypeControl({ field, target, task, types }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const errors = useErrors(field, target);
  const [asked, setAsked] = useState<{ type: string; gone: string[] }>();
  const names = types.map((x) => x.type);
  const data = task.type === "" || names.includes(task.type) ? names : [task.type, ...names];
  const change = (type: string, gone: readonly string[]) => {
    doc.edit("type", (r) => setType(r, task, type, gone));
    setAsked(undefined);
  };
  const choose = (type: string | null) => {
    const next = types.find((x) => x.type === type);
    if (!next || next.type === task.type) return;
    const gone = lostBy(types, task, next.type);
    if (gone.length === 0) change(next.type, []);
    else setAsked({ type: next.type, gone });
  };
  return (
    <FieldRow field={field} target={target} errors={errors} quiet>
      <Select
        id={idOf(field.path)}
        data={data}
        value={asked?.type ?? (task.type === "" ? null : task.type)}
        placeholder={t("form.type.choose")}
        error={errors.text}
        onChange={choose}
      />
      {asked && (
        <div className="fr-ask" role="alert">
          <p>{t("form.type.loses", { type: asked.type, fields: asked.gone.join(", ") })}</p>
          <div>
            <Button size="compact-xs" onClick={() => change(asked.type, asked.gone)}>
              {t("form.type.change")}
            </Button>
            <Button size="compact-xs" variant="default" onClick={() => setAsked(undefined)}>
              {t("common.cancel")}
            </Button>
          </div>
        </div>
      )}
    </FieldRow>
  );
}
