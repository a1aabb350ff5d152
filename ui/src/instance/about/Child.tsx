import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Suspense } from "react";
import type { Attempt, Task } from "../../api/client";
import { instanceQuery, tasksQuery } from "../../api/queries";
import { hasAbout } from "../../domain/states";
import { useSay } from "../../i18n";
import { useLiveInstance } from "../../live/live";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { piece } from "../../parts/piece";
import { StateWord } from "../../parts/StateIcon";
import { TaskName } from "../../parts/TaskName";
import { Took } from "../../parts/Times";

const Nested = piece(() => import("./Nested").then((m) => m.Nested));

/** maxShown is how many tasks of a child are listed: its own page has them all. */
const maxShown = 100;

interface Props {
  task: Task;
  attempts: Attempt[];
  /** The ids of the children inside it that are open, with dots between, and a task of the innermost one after a slash. */
  inside: string | undefined;
  onInside: (inside: string | undefined) => void;
}

/** Child opens the child of a sub_workflow task in place: how it stands, and each of its tasks with the way to its log. */
export function Child({ task, attempts, inside, onInside }: Props) {
  const { t } = useSay();
  const id = task.child_instance_id;
  const earlier = attempts.filter((a) => a.child_instance_id && a.child_instance_id !== id);
  return (
    <>
      {id ? <Opened key={id} id={id} inside={inside} onInside={onInside} /> : <p className="faint">{t("about.noChild")}</p>}
      {earlier.length > 0 && (
        <section>
          <h3>{t("about.earlier")}</h3>
          <ul className="about-list">
            {earlier.map((a) => (
              <li key={a.number}>
                {a.child_instance_id && <Named id={a.child_instance_id} />}
                <span className="faint">{t("about.attempt", { n: a.number })}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** Named is an instance by its workflow's name, with its state, and the way to it. */
export function Named({ id }: { id: string }) {
  const { t } = useSay();
  const one = useQuery(instanceQuery(id));
  // One of a project that the reader may not see is a number.
  if (!one.data) return <span className="mono">#{id}</span>;
  return (
    <>
      <Link to="/p/$project/r/$id" params={{ project: one.data.project, id }}>
        {t("about.childOf", { workflow: one.data.workflow, id })}
      </Link>
      <StateWord state={one.data.state} size={14} />
    </>
  );
}

function Opened({ id, inside = "", onInside }: { id: string } & Pick<Props, "inside" | "onInside">) {
  const { t } = useSay();
  const instance = useQuery(instanceQuery(id));
  const tasks = useQuery(tasksQuery(id));
  useLiveInstance(id);
  if (instance.isError) return <ErrorView error={instance.error} retry={() => void instance.refetch()} />;
  if (instance.isPending || !tasks.data) return <SkeletonRows />;
  const { project, workflow, state, started_at, finished_at } = instance.data;
  const [ids = "", ...names] = inside.split("/");
  const chosen = names.join("/");
  const deeper = ids.split(".").filter((x) => /^[1-9]\d*$/.test(x));
  return (
    <section>
      <h3 className="about-head">
        <Link to="/p/$project/r/$id" params={{ project, id }}>
          {t("about.childOf", { workflow, id })}
        </Link>
        <StateWord state={state} size={16} />
        <Took from={started_at} to={finished_at} live />
      </h3>
      <Suspense fallback={<SkeletonRows />}>
        <Nested
          trail={[id, ...deeper]}
          task={chosen || undefined}
          onTrail={(trail) => onInside(trail.slice(1).join(".") || undefined)}
          onTask={(name) => onInside(name === undefined ? ids || undefined : `${ids}/${name}`)}
        />
      </Suspense>
      {/* The list is of this child: one further in has the graph alone. */}
      <ul className="about-list" aria-label={workflow} hidden={deeper.length > 0}>
        {tasks.data.slice(0, maxShown).map((x) => (
          <li key={x.name}>
            <Link
              to="/p/$project/r/$id"
              params={{ project, id }}
              search={{ task: x.name, panel: hasAbout(x.type) ? "about" : "log" }}
              className="about-task"
            >
              <TaskName task={x.name} state={x.state} attempts={x.attempts} />
            </Link>
            <span className="faint num">
              <Took from={x.started_at} to={x.finished_at} live />
            </span>
          </li>
        ))}
      </ul>
      {tasks.data.length > maxShown && deeper.length === 0 && (
        <Link to="/p/$project/r/$id" params={{ project, id }} search={{ tab: "tasks" }}>
          {t("why.more", { count: tasks.data.length - maxShown })}
        </Link>
      )}
    </section>
  );
}
