import "./special.css";
import { ChildParams } from "./ChildParams";
import { DependencyControl } from "./DependencyControl";
import { NamedControl } from "./Named";
import { OverControl } from "./OverControl";
import type { ControlProps } from "./Simple";
import { TaskGroupControl } from "./TaskGroupControl";

/** Special has the controls that ask the server what there is. They are a file of their own, loaded with the first form that has one. */
export function Special({ field, target }: ControlProps) {
  switch (field.control) {
    case "dependency":
      return <DependencyControl field={field} target={target} />;
    case "over":
      return <OverControl field={field} target={target} />;
    case "task_group":
      return <TaskGroupControl field={field} target={target} />;
    default:
      return (
        <>
          <NamedControl field={field} target={target} />
          {field.key === "workflow" && <ChildParams target={target} />}
        </>
      );
  }
}
