import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { Instance, Task } from "../api/client";
import { attemptsQuery, explainQuery } from "../api/queries";
import { isFinalTask } from "../domain/states";
import { lastLines } from "../domain/tail";
import { useSay, word } from "../i18n";
import { OpenLog } from "../log/OpenLog";
import { AcknowledgedBy } from "../parts/AcknowledgedBy";
import { CopyLink } from "../parts/CopyButton";
import { messageWords } from "../parts/messageWords";
import { StateIcon } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import type { Intent } from "../parts/verbs";
import { useWhyNot } from "../shell/me";
import { Acknowledging } from "../today/Acknowledge";
import { Reason, sentence } from "./Why";

interface Props {
  instance: Instance;
  tasks: Task[];
  onLog: (task: string, attempt: number, line: string | undefined) => void;
  onShow: (task: string) => void;
  onIntent: (intent: Intent) => void;
  onCompare: (() => void) | undefined;
}

const tailLines = 4;
const quiet = new Set(["success"]);

/** Banner says first what is wrong, why, and where to look; while all goes well it is one line. */
export function Banner({ instance, tasks, onLog, onShow, onIntent, onCompare }: Props) {
  const { t } = useSay();
  const held = useWhyNot(instance.project)("operator");
  const [open, setOpen] = useState(false);
  const why = useQuery({ ...explainQuery(instance.id), enabled: !quiet.has(instance.state) });
  if (quiet.has(instance.state)) return null;
  const culprit = firstFailed(tasks);
  const blocked = tasks.filter((x) => x.state === "upstream_failed").length;
  const bad = instance.state === "failed" || instance.state === "quarantined";
  const done = tasks.filter((x) => isFinalTask(x.state)).length;
  const seen = bad && <Acknowledging instance={instance} />;
  return (
    <section className={bad ? "banner bad" : "banner"} aria-label={t("explain.title")}>
      {culprit ? (
        <Culprit
          instance={instance}
          task={culprit}
          blocked={blocked}
          onLog={onLog}
          onShow={onShow}
          onWhy={() => setOpen(!open)}
          onCompare={onCompare}
          open={open}
        >
          {seen}
        </Culprit>
      ) : (
        <p className="banner-line">
          <span>
            {(why.data && (sentence(t, why.data, Date.now()) || why.data.text)) ?? t("run.progress", { done, total: tasks.length })}
          </span>
          {why.data?.causes && why.data.causes.length > 0 && (
            <Button variant="default" aria-expanded={open} onClick={() => setOpen(!open)}>
              {t("run.why")}
            </Button>
          )}
          {seen}
        </p>
      )}
      <AcknowledgedBy of={instance.acknowledged} />
      {open && why.data && (
        <ul className="why">
          <Reason e={why.data} onShow={onShow} onIntent={onIntent} held={held} />
        </ul>
      )}
    </section>
  );
}

/** firstFailed is the task that failed first: the others may be its consequences. */
function firstFailed(tasks: Task[]): Task | undefined {
  const failed = tasks.filter((x) => x.state === "failed" || x.state === "killed");
  const when = (x: Task) => (x.finished_at ? Date.parse(x.finished_at) : Number.MAX_SAFE_INTEGER);
  return failed.sort((a, b) => when(a) - when(b))[0];
}

interface CulpritProps {
  instance: Instance;
  task: Task;
  blocked: number;
  open: boolean;
  onLog: (task: string, attempt: number, line: string | undefined) => void;
  onShow: (task: string) => void;
  onWhy: () => void;
  onCompare: (() => void) | undefined;
  children: ReactNode; // what else can be done about it
}

function Culprit({ instance, task, blocked, open, onLog, onShow, onWhy, onCompare, children }: CulpritProps) {
  const { t } = useSay();
  const attempts = useQuery(attemptsQuery(instance.id, task.name));
  const last = attempts.data?.at(-1);
  const facts = [
    last ? t("run.rootCauseAttempt", { n: last.number }) : "",
    last?.reason ? word(t, "reason", last.reason) : "",
    last && last.exit_code !== 0 ? t("run.exit", { code: last.exit_code }) : "",
    last?.worker ? t("run.onWorker", { worker: last.worker }) : "",
  ].filter((x) => x !== "");
  const tail = last?.tail ? lastLines(last.tail, tailLines) : "";
  return (
    <>
      <p className="banner-line">
        <StateIcon state={task.state} size={18} />
        <strong>{task.name}</strong>
        <span>
          {word(t, "state", task.state)}
          {facts.length > 0 && `: ${facts.join(", ")}`}
        </span>
        <span className="faint">
          <Ago at={task.finished_at} />
        </span>
        {blocked > 0 && <span className="banner-blocked">{t("run.blocked", { count: blocked })}</span>}
      </p>
      {last?.message && last.reason !== "exit_code" && <p className="banner-message">{messageWords(t, last.message)}</p>}
      {tail && (
        // What is longer than its box is scrolled by keys too.
        <pre className="banner-tail" role="region" aria-label={t("run.tail")} tabIndex={0}>
          {tail}
        </pre>
      )}
      <div className="banner-acts">
        {last && <OpenLog id={instance.id} task={task.name} attempt={last.number} onOpen={(line) => onLog(task.name, last.number, line)} />}
        <Button variant="default" onClick={() => onShow(task.name)}>
          {t("run.showInGraph")}
        </Button>
        <Button variant="default" aria-expanded={open} onClick={onWhy}>
          {t("run.why")}
        </Button>
        {onCompare && (
          <Button variant="default" onClick={onCompare}>
            {t("instance.compareLast")}
          </Button>
        )}
        {children}
        <CopyLink />
      </div>
    </>
  );
}
