import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { RunningTask } from "../api/cluster";
import { instanceQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ActionDialog } from "../parts/ActionDialog";
import { RowMenu } from "../parts/RowMenu";
import { StateWord } from "../parts/StateIcon";
import { Took } from "../parts/Times";
import { useWhyNot } from "../shell/me";

/** WorkerTasks is what a worker runs, with a way to end each. */
export function WorkerTasks({ name, tasks, hidden }: { name: string; tasks: RunningTask[]; hidden: number }) {
  const { t } = useSay();
  const [kill, setKill] = useState<RunningTask>();
  return (
    <div className="worker-tasks">
      {tasks.length === 0 ? (
        <p className="calm">{t("cluster.noTasks")}</p>
      ) : (
        <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.showTasks", { name })}>
          <table className="plain">
            <thead>
              <tr>
                <th>{t("cluster.task")}</th>
                <th>{t("cluster.workflow")}</th>
                <th>{t("cluster.state")}</th>
                <th className="n">{t("cluster.attempt")}</th>
                <th className="n">{t("cluster.runs")}</th>
                <th aria-label={t("common.more")} />
              </tr>
            </thead>
            <tbody>
              {tasks.map((x) => (
                <Row key={`${x.instance_id} ${x.task} ${x.attempt}`} x={x} onKill={() => setKill(x)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {hidden > 0 && <p className="faint">{t("cluster.hidden", { count: hidden })}</p>}
      <p>
        <Link to="/runs" search={{ worker: name }}>
          {t("cluster.ranHere")}
        </Link>
      </p>
      {kill && <Kill task={kill} onClose={() => setKill(undefined)} />}
    </div>
  );
}

function Row({ x, onKill }: { x: RunningTask; onKill: () => void }) {
  const { t } = useSay();
  const why = useWhyNot(x.project)("operator");
  return (
    <tr>
      <td>
        <Link to="/p/$project/r/$id" params={{ project: x.project, id: x.instance_id }} search={{ task: x.task }}>
          {x.task}
        </Link>
      </td>
      <td>
        {x.workflow} <span className="faint num">{x.instance_id}</span>
      </td>
      <td>
        <StateWord state={x.state} size={14} />
      </td>
      <td className="n num">{x.attempt}</td>
      <td className="n">
        <Took from={x.started_at ?? x.dispatched_at} to={undefined} live />
      </td>
      <td className="end">
        <RowMenu
          label={t("cluster.killTask", { task: x.task, workflow: x.workflow, id: x.instance_id })}
          actions={[{ label: t("cluster.kill"), run: onKill, why }]}
        />
      </td>
    </tr>
  );
}

/** Kill asks with the server's own list of what the end of the task changes. */
function Kill({ task, onClose }: { task: RunningTask; onClose: () => void }) {
  const instance = useQuery(instanceQuery(task.instance_id));
  if (!instance.data) return null;
  return <ActionDialog instance={instance.data} intent={{ verb: "kill", task: task.task }} onClose={onClose} />;
}
