import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { useMemo } from "react";
import type { Task } from "../../api/client";
import { graphQuery, instanceQuery, layoutQuery, tasksQuery } from "../../api/queries";
import { hasAbout } from "../../domain/states";
import { GraphView } from "../../graph/GraphView";
import { useSay } from "../../i18n";
import { useLiveInstance } from "../../live/live";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { StateWord } from "../../parts/StateIcon";
import { TaskName } from "../../parts/TaskName";
import { Took } from "../../parts/Times";
import { nodeStates } from "../nodeStates";

/** maxDepth bounds how deep children are opened inside each other; further down is the child's own page. */
const maxDepth = 5;

interface Props {
  /** The children that are open, from the outermost in. */
  trail: readonly string[];
  /** The task that is chosen in the innermost one. */
  task: string | undefined;
  onTrail: (trail: readonly string[]) => void;
  onTask: (task: string | undefined) => void;
}

/** Nested is the graph of a child in place, with its states, and those of its own children inside it. */
export function Nested({ trail, task, onTrail, onTask }: Props) {
  const { t } = useSay();
  const id = trail.at(-1) ?? "";
  const instance = useQuery(instanceQuery(id));
  const tasks = useQuery(tasksQuery(id));
  useLiveInstance(id);
  const states = useMemo(() => nodeStates(tasks.data ?? []), [tasks.data]);
  if (instance.isError) return <ErrorView error={instance.error} retry={() => void instance.refetch()} />;
  if (instance.isPending || !tasks.data) return <SkeletonRows />;
  const one = tasks.data.find((x) => x.name === task);
  return (
    <section className="nested" aria-label={t("about.nested", { workflow: instance.data.workflow })}>
      {trail.length > 1 && (
        <nav className="nested-trail" aria-label={t("about.trail")}>
          {trail.map((x, n) => (
            <span key={x}>
              {n > 0 && <ChevronRight size={12} aria-hidden="true" />}
              {n === trail.length - 1 ? (
                <Step id={x} />
              ) : (
                <button type="button" className="link" onClick={() => onTrail(trail.slice(0, n + 1))}>
                  <Step id={x} />
                </button>
              )}
            </span>
          ))}
        </nav>
      )}
      <Drawn id={id} states={states} chosen={one?.name} onChoose={(name) => onTask(name === task ? undefined : name)} />
      {one && (
        <Inside
          id={id}
          project={instance.data.project}
          task={one}
          onOpen={one.child_instance_id && trail.length < maxDepth ? () => onTrail([...trail, one.child_instance_id ?? ""]) : undefined}
        />
      )}
    </section>
  );
}

function Step({ id }: { id: string }) {
  const { t } = useSay();
  const one = useQuery(instanceQuery(id));
  return one.data ? t("about.childOf", { workflow: one.data.workflow, id }) : `#${id}`;
}

interface DrawnProps {
  id: string;
  states: ReturnType<typeof nodeStates>;
  chosen: string | undefined;
  onChoose: (task: string) => void;
}

function Drawn({ id, states, chosen, onChoose }: DrawnProps) {
  const instance = useQuery(instanceQuery(id));
  const { project = "", workflow = "", version = 0 } = instance.data ?? {};
  const graph = useQuery({ ...graphQuery(project, workflow, version), enabled: version > 0 });
  const layout = useQuery({ ...layoutQuery(project, workflow), enabled: version > 0 });
  if (graph.isError) return <ErrorView error={graph.error} retry={() => void graph.refetch()} />;
  if (graph.isPending || layout.isPending) return <SkeletonRows />;
  return (
    <div className="nested-graph">
      <GraphView
        key={id}
        name={workflow}
        tasks={graph.data.tasks}
        places={layout.data?.tasks}
        states={states}
        chosen={chosen}
        onChoose={onChoose}
        inset
      />
    </div>
  );
}

/** Inside is what is chosen in the child: how it stands, its own child, and the way to its log. */
function Inside({ id, project, task, onOpen }: { id: string; project: string; task: Task; onOpen: (() => void) | undefined }) {
  const { t } = useSay();
  return (
    <div className="nested-task">
      <TaskName task={task.name} state={task.state} attempts={task.attempts} />
      <StateWord state={task.state} size={14} />
      <span className="faint num">
        <Took from={task.started_at} to={task.finished_at} live />
      </span>
      {onOpen && (
        <button type="button" className="link" onClick={onOpen}>
          {t("about.openInside")}
        </button>
      )}
      <Link to="/p/$project/r/$id" params={{ project, id }} search={{ task: task.name, panel: hasAbout(task.type) ? "about" : "log" }}>
        {t(hasAbout(task.type) ? "about.toTask" : "about.toLog")}
      </Link>
    </div>
  );
}
