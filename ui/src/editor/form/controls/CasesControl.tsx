import { ActionIcon, Button } from "@mantine/core";
import { ChevronDown, ChevronUp, Plus, X } from "lucide-react";
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from "react";
import { moveItem } from "../../../domain/document/order";
import { fieldOf } from "../../../domain/document/path";
import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { useDocument } from "../../context";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import { ConditionControl } from "./Conditions";
import type { ControlProps } from "./Simple";
import { TasksControl } from "./TasksControl";

/** Part is what has the focus in a row, or the button below all rows. */
type Part = "when" | "up" | "down" | "remove" | "add";

/** CasesControl has the branches of a task as rows, which are looked at in their order. Alt with an arrow moves the row that has the focus. */
export function CasesControl({ field, target, task }: ControlProps & { task: Task }) {
  const { t } = useSay();
  const doc = useDocument();
  // What is wrong inside of a case stands there.
  const errors = useErrors(field, target, false);
  const value = target.read(field.path);
  const count = Array.isArray(value) ? value.length : 0;
  const { box, focus } = useFocus();
  const add = () => {
    const fresh = { when: "", then: [] };
    const done = count === 0 ? target.write(field.path, [fresh]) : target.write([...field.path, count], fresh);
    if (done) focus(count, "when");
  };
  const remove = (i: number) => {
    const done = target.write(count === 1 ? field.path : [...field.path, i], undefined);
    if (done) focus(Math.min(i, count - 2), count === 1 ? "add" : "remove");
  };
  const move = (i: number, by: 1 | -1, part: Part = by < 0 ? "up" : "down") => {
    const to = i + by;
    if (to < 0 || to >= count) return;
    if (!doc.edit("field", (r) => moveItem(r, target.whole(field.path), i, by))) return;
    // At the end of the way the button has nothing more to do.
    const done = (part === "up" && to === 0) || (part === "down" && to === count - 1);
    focus(to, done ? (part === "up" ? "down" : "up") : part);
  };
  const keys = (event: KeyboardEvent, i: number) => {
    const by = event.key === "ArrowUp" ? -1 : event.key === "ArrowDown" ? 1 : undefined;
    // In a list of tasks Alt and an arrow open what can be chosen.
    if (!by || !event.altKey || event.target instanceof HTMLInputElement) return;
    event.preventDefault();
    move(i, by, "when");
  };
  return (
    <FieldRow field={field} target={target} errors={errors} wide group>
      <div className="cases" ref={box}>
        {Array.from({ length: count }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a case has no name but its number
          <CaseRow key={i} field={field} target={target} task={task} {...{ i, count, move, keys, remove }} />
        ))}
        <Button variant="subtle" size="compact-xs" data-part="add" leftSection={<Plus size={12} />} onClick={add}>
          {t("form.cases.add")}
        </Button>
      </div>
    </FieldRow>
  );
}

interface RowProps extends ControlProps {
  task: Task;
  i: number;
  count: number;
  move: (i: number, by: 1 | -1) => void;
  keys: (event: KeyboardEvent, i: number) => void;
  remove: (i: number) => void;
}

function CaseRow({ field, target, task, i, count, move, keys, remove }: RowProps) {
  const { t } = useSay();
  const n = i + 1;
  const at = [...field.path, i];
  const title = `${idOf(at)}-title`;
  return (
    <div role="group" aria-labelledby={title} className="case" data-row={i} data-field={fieldOf(at)} onKeyDown={(event) => keys(event, i)}>
      <h3 id={title}>{t("form.cases.one", { n })}</h3>
      <div className="case-tools">
        <ActionIcon size={24} data-part="up" disabled={i === 0} aria-label={t("form.cases.up", { n })} onClick={() => move(i, -1)}>
          <ChevronUp size={14} />
        </ActionIcon>
        <ActionIcon size={24} data-part="down" disabled={n === count} aria-label={t("form.cases.down", { n })} onClick={() => move(i, 1)}>
          <ChevronDown size={14} />
        </ActionIcon>
        <ActionIcon size={24} data-part="remove" aria-label={t("form.cases.remove", { n })} onClick={() => remove(i)}>
          <X size={13} />
        </ActionIcon>
      </div>
      {field.fields.map((f) => {
        const own = { ...f, path: [...at, f.key] };
        if (f.control === "condition") return <ConditionControl key={f.key} field={own} target={target} />;
        return f.control === "tasks" ? <TasksControl key={f.key} field={own} target={target} task={task} /> : null;
      })}
    </div>
  );
}

/** useFocus gives the focus to a part of a row once what was done is drawn. */
function useFocus(): { box: RefObject<HTMLDivElement | null>; focus: (row: number, part: Part) => void } {
  const box = useRef<HTMLDivElement>(null);
  const [wish, setWish] = useState<{ row: number; part: Part }>();
  useEffect(() => {
    if (!wish) return;
    const row = wish.part === "add" ? "" : `[data-row="${wish.row}"] `;
    const part = wish.part === "when" ? "textarea" : `[data-part="${wish.part}"]`;
    box.current?.querySelector<HTMLElement>(row + part)?.focus();
    setWish(undefined);
  }, [wish]);
  return { box, focus: (row, part) => setWish({ row, part }) };
}
