import { Button } from "@mantine/core";
import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { lead } from "../../commands";
import { useDoc, useDocument } from "../../context";
import { branchOffers } from "../needs";
import { listOf } from "../values";
import type { ControlProps } from "./Simple";
import { TaskPills } from "./TaskPills";

/** TasksControl has the tasks of one branch. Choosing one that does not need this task yet lets it need it, in the same step. */
export function TasksControl({ field, target, task }: ControlProps & { task: Task }) {
  const { t } = useSay();
  const doc = useDocument();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const value = target.read(field.path);
  const names = listOf(value);
  // An empty branch is a choice of its own: it stays when its last task goes.
  const drop = (name: string) => {
    const at = names.indexOf(name);
    if (names.length === 1) target.write(field.path, []);
    else if (at >= 0) target.write([...field.path, at], undefined);
  };
  return (
    <div className="branch-tasks">
      <TaskPills
        field={field}
        target={target}
        names={names}
        offers={(letters) => branchOffers(tasks, task, names, letters)}
        label={t("form.tasks.offers")}
        placeholder={Array.isArray(value) && names.length === 0 ? t("form.tasks.nothing") : t("form.needs.add")}
        onChoose={(name) => lead(doc, task, field.path, name)}
        onDrop={drop}
      />
      {value === undefined && (
        <Button variant="subtle" size="compact-xs" onClick={() => target.write(field.path, [])}>
          {t("form.tasks.empty")}
        </Button>
      )}
    </div>
  );
}
