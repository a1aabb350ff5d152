import { lookOf } from "../domain/states";
import { useSay, word } from "../i18n";
import { StateIcon } from "./StateIcon";

interface Props {
  task: string;
  state: string;
  attempts?: number;
  children?: React.ReactNode;
}

/** TaskName begins a task's row wherever tasks are rows: the table, the Gantt chart, the comparison. */
export function TaskName({ task, state, attempts = 0, children }: Props) {
  const { t } = useSay();
  return (
    <span className={`task-name text-${lookOf(state).hue}`}>
      <StateIcon state={state} label={state ? word(t, "state", state) : t("state.outside")} />
      <span className="task-name-text" title={task}>
        {task}
      </span>
      {attempts > 1 && (
        <span className="num faint" title={t("run.rootCauseAttempt", { n: attempts })}>
          #{attempts}
        </span>
      )}
      {children}
    </span>
  );
}
