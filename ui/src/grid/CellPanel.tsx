import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { attemptsQuery, instanceQuery, tasksQuery } from "../api/queries";
import { useSay } from "../i18n";
import { TaskPanel } from "../instance/TaskPanel";
import "../instance/view.css";
import { useLiveInstance } from "../live/live";
import { ActionDialog } from "../parts/ActionDialog";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import type { Intent } from "../parts/verbs";
import type { WorkflowSearch } from "../searchSchedule";

interface Props {
  id: string;
  task: string;
  search: WorkflowSearch;
  set: (part: WorkflowSearch, replace?: boolean) => void;
  onClose: () => void;
}

/** CellPanel is the task of one instance in place, as the instance's own page has it beside its graph. */
export function CellPanel({ id, task, search, set, onClose }: Props) {
  const { t } = useSay();
  const instance = useQuery(instanceQuery(id));
  const tasks = useQuery(tasksQuery(id));
  const attempts = useQuery(attemptsQuery(id, task));
  const [intent, setIntent] = useState<Intent>();
  useLiveInstance(id);
  const error = instance.error ?? tasks.error ?? attempts.error;
  if (error) return <ErrorView error={error} retry={() => void Promise.all([instance.refetch(), tasks.refetch(), attempts.refetch()])} />;
  if (!instance.data || !tasks.data) return <SkeletonRows />;
  return (
    <div className="grid-side">
      <p className="grid-side-head">
        <Link to="/p/$project/r/$id" params={{ project: instance.data.project, id }} search={{ task, panel: search.panel }}>
          {t("grid.instance", { id })}
        </Link>
      </p>
      <TaskPanel
        instance={instance.data}
        task={tasks.data.find((x) => x.name === task)}
        name={task}
        attempts={attempts.data ?? []}
        loading={attempts.isPending}
        search={search}
        set={set}
        onClose={onClose}
        onIntent={setIntent}
        onShow={(name) => set({ task: name, attempt: undefined, line: undefined })}
      />
      <ActionDialog instance={instance.data} intent={intent} onClose={() => setIntent(undefined)} />
    </div>
  );
}
