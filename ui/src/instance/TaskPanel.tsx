import { Button } from "@mantine/core";
import type { Attempt, Instance, Task } from "../api/client";
import { taskVerbs } from "../domain/states";
import { useSay } from "../i18n";
import { LogPanel } from "../log/LogPanel";
import { type Intent, verbWord } from "../parts/ActionDialog";
import { SkeletonRows } from "../parts/ErrorView";
import type { InstanceSearch } from "../search";
import { Why } from "./Why";

interface Props {
  instance: Instance;
  task: Task | undefined;
  name: string;
  attempts: Attempt[];
  loading: boolean;
  search: InstanceSearch;
  set: (part: InstanceSearch, replace?: boolean) => void;
  onClose: () => void;
  onIntent: (intent: Intent) => void;
}

/** TaskPanel is one task beside the graph: its log, why it is so, and what can be done. */
export function TaskPanel({ instance, task, name, attempts, loading, search, set, onClose, onIntent }: Props) {
  const { t } = useSay();
  const latest = attempts.at(-1)?.number ?? 0;
  const asked = Number(search.attempt ?? 0);
  const attempt = attempts.some((a) => a.number === asked) ? asked : latest;
  const verbs = task ? taskVerbs(instance.state, task.state) : [];
  const intents: Intent[] = verbs.flatMap((verb): Intent[] =>
    verb === "rerun"
      ? [
          { verb, task: name, scope: "downstream" },
          { verb, task: name, scope: "only" },
        ]
      : [{ verb, task: name }],
  );
  return (
    <aside className="task-panel" aria-label={name}>
      {loading ? (
        <SkeletonRows />
      ) : (
        <LogPanel
          id={instance.id}
          task={name}
          attempts={attempts}
          attempt={attempt}
          stream={search.out}
          onAttempt={(n) => set({ attempt: String(n) }, true)}
          onStream={(out) => set({ out }, true)}
          onClose={onClose}
        />
      )}
      {attempts.length === 0 && !loading && <Why id={instance.id} task={name} state={task?.state ?? ""} />}
      {intents.length > 0 && (
        <div className="task-actions">
          {intents.map((i) => (
            <Button key={`${i.verb}${i.scope ?? ""}`} variant="default" onClick={() => onIntent(i)}>
              {t(verbWord(i))}
            </Button>
          ))}
        </div>
      )}
    </aside>
  );
}
