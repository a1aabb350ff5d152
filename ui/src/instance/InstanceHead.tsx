import { ActionIcon, Menu, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight, Ellipsis } from "lucide-react";
import { useMemo } from "react";
import type { Instance, Task } from "../api/client";
import { neighboursQuery } from "../api/instances";
import { duration, millis } from "../domain/format";
import { instanceVerbs, isFinalTask, isLive } from "../domain/states";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { CopyButton } from "../parts/CopyButton";
import { Crumbs } from "../parts/Crumbs";
import { Guarded } from "../parts/Guarded";
import { GuardedItem } from "../parts/GuardedItem";
import { StateWord } from "../parts/StateIcon";
import { Moment, Took } from "../parts/Times";
import { type Intent, verbWord } from "../parts/verbs";
import { useWhyNot } from "../shell/me";

interface Props {
  instance: Instance;
  tasks: Task[];
  onIntent: (intent: Intent) => void;
}

/** InstanceHead stays while the rest scrolls: what it is, how it stands, what can be done. */
export function InstanceHead({ instance, tasks, onIntent }: Props) {
  const { t } = useSay();
  const i = instance;
  const why = useWhyNot(i.project)("operator");
  const verbs = instanceVerbs(i.state);
  const around = useQuery(neighboursQuery(i.id));
  const counts = useMemo(() => {
    const by = new Map<string, number>();
    for (const x of tasks) if (x.state) by.set(x.state, (by.get(x.state) ?? 0) + 1);
    return [...by];
  }, [tasks]);
  const [first, second, ...rest] = verbs.map((verb): Intent => ({ verb }));
  return (
    <header className="instance-head">
      <Crumbs project={i.project}>
        <Link to="/p/$project/w/$workflow" params={{ project: i.project, workflow: i.workflow }}>
          {i.workflow}
        </Link>
      </Crumbs>
      <div className="title-row">
        <h1>
          {i.workflow} <span className="mono id">{i.id}</span>
        </h1>
        <CopyButton value={i.id} />
        <Beside id={around.data?.previous} project={i.project} label={t("instance.previous")} hint="[">
          <ChevronLeft size={16} />
        </Beside>
        <Beside id={around.data?.next} project={i.project} label={t("instance.next")} hint="]">
          <ChevronRight size={16} />
        </Beside>
        <span className="big-state" role="status">
          <StateWord state={i.state} size={18} />
        </span>
        <span className="num">
          <Took from={i.started_at} to={i.finished_at} live={isLive(i.state)} />
        </span>
        {isLive(i.state) && (
          <Progress instance={i} tasks={tasks} median={around.data?.median_ms ?? 0} samples={around.data?.samples ?? 0} />
        )}
        <span className="push acts">
          {first && (
            <Guarded why={why} onClick={() => onIntent(first)}>
              {t(verbWord(first))}
            </Guarded>
          )}
          {second && (
            <Guarded variant="default" why={why} onClick={() => onIntent(second)}>
              {t(verbWord(second))}
            </Guarded>
          )}
          {rest.length > 0 && (
            <Menu position="bottom-end" withInitialFocusPlaceholder={false}>
              <Menu.Target>
                <ActionIcon aria-label={t("common.more")} variant="default">
                  <Ellipsis size={16} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                {rest.map((x) => (
                  <GuardedItem key={x.verb} why={why} onClick={() => onIntent(x)}>
                    {t(verbWord(x))}
                  </GuardedItem>
                ))}
              </Menu.Dropdown>
            </Menu>
          )}
        </span>
      </div>
      <p className="facts faint">
        <Link
          to="/p/$project/w/$workflow"
          params={{ project: i.project, workflow: i.workflow }}
          search={{ tab: "definition", v: String(i.version) }}
        >
          {t("common.version", { n: i.version })}
        </Link>
        <span>
          <Moment at={i.created_at} />
        </span>
        {i.schedule_time && (
          <span>
            {t("run.schedule", { when: "" })} <Moment at={i.schedule_time} />
          </span>
        )}
        <span>{t("common.by", { name: i.created_by })}</span>
        {i.round > 1 && <span>{t("run.round", { n: i.round })}</span>}
        {i.dry_run && <span>{t("run.dryRun")}</span>}
        {i.rerun_of && (
          <Link to="/p/$project/r/$id" params={{ project: i.project, id: i.rerun_of }}>
            {t("run.rerunOf", { id: i.rerun_of })}
          </Link>
        )}
        {i.parent_instance_id && (
          <Link to="/p/$project/r/$id" params={{ project: i.project, id: i.parent_instance_id }}>
            {t("run.parent", { id: i.parent_instance_id, task: i.parent_task ?? "" })}
          </Link>
        )}
        <span className="counts-line">
          {counts.map(([state, n]) => (
            <span key={state} className="count-pair">
              <StateWord state={state} size={14} /> <b className="num">{n}</b>
            </span>
          ))}
        </span>
      </p>
    </header>
  );
}

interface BesideProps {
  id: string | undefined;
  project: string;
  label: string;
  hint: string;
  children: React.ReactNode;
}

/** Beside leads to another instance of the same workflow, with the page's tab kept. */
function Beside({ id, project, label, hint, children }: BesideProps) {
  if (!id) return null;
  return (
    <Tooltip label={`${label} (${hint})`}>
      <ActionIcon
        size={24}
        aria-label={label}
        renderRoot={(props) => (
          <Link {...props} to="/p/$project/r/$id" params={{ project, id }} search={(s) => ({ tab: "tab" in s ? s.tab : undefined })} />
        )}
      >
        {children}
      </ActionIcon>
    </Tooltip>
  );
}

interface ProgressProps {
  instance: Instance;
  tasks: Task[];
  median: number;
  samples: number;
}

/** Progress says how far a running instance is, and when it should end by what the last ones took. */
function Progress({ instance, tasks, median, samples }: ProgressProps) {
  const { t } = useSay();
  const now = useNow();
  const inScope = tasks.filter((x) => x.state !== "");
  const done = inScope.filter((x) => isFinalTask(x.state)).length;
  const started = millis(instance.started_at);
  const left = started === undefined || median <= 0 ? undefined : started + median - now;
  return (
    <span className="progress num" title={samples > 0 ? t("instance.medianOf", { took: duration(median), count: samples }) : undefined}>
      <progress max={Math.max(1, inScope.length)} value={done} aria-label={t("run.progress", { done, total: inScope.length })} />
      {done}/{inScope.length}
      {left !== undefined && (
        <span className={left < 0 ? "warning" : "faint"}>
          {left < 0 ? t("instance.lateBy", { by: duration(-left) }) : t("instance.endsIn", { left: duration(left) })}
        </span>
      )}
    </span>
  );
}
