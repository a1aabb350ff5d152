import type { Task } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import { connect, disconnect } from "../../commands";
import { useDoc, useDocument } from "../../context";
import { offersFor } from "../needs";
import type { ControlProps } from "./Simple";
import { TaskPills } from "./TaskPills";

/** NeedsControl has the tasks that must be done before. */
export function NeedsControl({ field, target, task }: ControlProps & { task: Task }) {
  const { t } = useSay();
  const doc = useDocument();
  const tasks = useDoc((s) => s.reading.model.tasks);
  return (
    <TaskPills
      field={field}
      target={target}
      names={task.needs}
      offers={(letters) => offersFor(tasks, task, letters)}
      label={t("form.needs.offers")}
      placeholder={t("form.needs.add")}
      onChoose={(name) => connect(doc, name, task.name)}
      onDrop={(name) => disconnect(doc, [{ from: name, to: task.name }])}
    />
  );
}
