import { type KeyboardEvent, useState } from "react";
import type { TaskType } from "../../api/client";
import { setType } from "../../domain/document/fields";
import type { Task } from "../../domain/document/read";
import { useSay } from "../../i18n";
import { useDocument } from "../context";
import { lostBy } from "../form/schema";

interface Props {
  task: Task;
  label: string;
  types: readonly TaskType[];
  onLeave: () => void;
  onStep: (by: 1 | -1) => void;
}

/** TypeEditor changes a task's type in its cell. Where fields would go with the old type, it asks first. */
export function TypeEditor({ task, label, types, onLeave, onStep }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const [type, setOther] = useState(task.type);
  const gone = lostBy(types, task, type);
  const keep = () => type !== task.type && doc.edit("type", (r) => setType(r, task, type, gone));
  const press = (event: KeyboardEvent) => {
    if (event.key === "Escape") onLeave();
    else if (event.key === "Enter") {
      keep();
      onLeave();
    } else if (event.key === "Tab") {
      if (gone.length === 0) keep();
      onStep(event.shiftKey ? -1 : 1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const known = types.some((x) => x.type === task.type);
  return (
    <>
      <select
        className="fi list-field"
        value={type}
        aria-label={label}
        // biome-ignore lint/a11y/noAutofocus: the field was asked for by a key or a double click on its cell
        autoFocus
        onChange={(event) => setOther(event.target.value)}
        onKeyDown={press}
        onBlur={() => {
          if (gone.length === 0) keep();
          onLeave();
        }}
      >
        {!known && <option value={task.type}>{task.type}</option>}
        {types.map((x) => (
          <option key={x.type}>{x.type}</option>
        ))}
      </select>
      {gone.length > 0 && (
        <span className="list-why" role="alert">
          {t("list.typeLoses", { type, fields: gone.join(", ") })}
        </span>
      )}
    </>
  );
}
