import "./about.css";
import { useQuery } from "@tanstack/react-query";
import { approvalsOfQuery } from "../../api/about";
import type { Attempt, Instance, Task } from "../../api/client";
import { Ask } from "../../approval/Ask";
import { useSay } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { Child } from "./Child";
import { Children } from "./Children";
import { Choice, PassedBy } from "./Choice";
import { Dependencies } from "./Dependencies";

interface Props {
  instance: Instance;
  task: Task;
  attempts: Attempt[];
  /** What is open inside a child. */
  inside: string | undefined;
  onInside: (inside: string | undefined) => void;
  onShow: (task: string) => void;
}

/** About is what a task that runs in the master is about: it has no log, but people, children, other workflows, or a choice. */
export function About({ instance, task, attempts, inside, onInside, onShow }: Props) {
  if (task.reason === "not_chosen") return <PassedBy instance={instance} task={task} onShow={onShow} />;
  switch (task.type) {
    case "approval":
      return <Approval id={instance.id} task={task.name} />;
    case "sub_workflow":
      return <Child task={task} attempts={attempts} inside={inside} onInside={onInside} />;
    case "dynamic":
      return <Children id={instance.id} task={task} />;
    case "dependent":
      return <Dependencies id={instance.id} task={task.name} />;
    default:
      return <Choice instance={instance} task={task} onShow={onShow} />;
  }
}

function Approval({ id, task }: { id: string; task: string }) {
  const { t } = useSay();
  const approvals = useQuery(approvalsOfQuery(id));
  if (approvals.isError) return <ErrorView error={approvals.error} retry={() => void approvals.refetch()} />;
  if (approvals.isPending) return <SkeletonRows />;
  const found = approvals.data.find((a) => a.task === task);
  return found ? <Ask key={found.attempt} approval={found} /> : <p className="faint">{t("about.noApproval")}</p>;
}
