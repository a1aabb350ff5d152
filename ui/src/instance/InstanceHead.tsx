import { ActionIcon, Button, Menu } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Ellipsis } from "lucide-react";
import { useMemo } from "react";
import type { Instance, Task } from "../api/client";
import { instanceVerbs, isLive } from "../domain/states";
import { useSay } from "../i18n";
import type { Intent } from "../parts/ActionDialog";
import { verbWord } from "../parts/ActionDialog";
import { CopyButton } from "../parts/CopyButton";
import { StateWord } from "../parts/StateIcon";
import { Moment, Took } from "../parts/Times";

interface Props {
  instance: Instance;
  tasks: Task[];
  onIntent: (intent: Intent) => void;
}

/** InstanceHead stays while the rest scrolls: what it is, how it stands, what can be done. */
export function InstanceHead({ instance, tasks, onIntent }: Props) {
  const { t } = useSay();
  const i = instance;
  const verbs = instanceVerbs(i.state);
  const counts = useMemo(() => {
    const by = new Map<string, number>();
    for (const x of tasks) if (x.state) by.set(x.state, (by.get(x.state) ?? 0) + 1);
    return [...by];
  }, [tasks]);
  const [first, second, ...rest] = verbs.map((verb): Intent => ({ verb }));
  return (
    <header className="instance-head">
      <nav className="crumbs" aria-label={t("nav.projects")}>
        <Link to="/p/$project/workflows" params={{ project: i.project }}>
          {i.project}
        </Link>{" "}
        /{" "}
        <Link to="/p/$project/w/$workflow" params={{ project: i.project, workflow: i.workflow }}>
          {i.workflow}
        </Link>
      </nav>
      <div className="title-row">
        <h1>
          {i.workflow} <span className="mono id">{i.id}</span>
        </h1>
        <CopyButton value={i.id} />
        <span className="big-state" role="status">
          <StateWord state={i.state} size={18} />
        </span>
        <span className="num">
          <Took from={i.started_at} to={i.finished_at} live={isLive(i.state)} />
        </span>
        <span className="push acts">
          {first && <Button onClick={() => onIntent(first)}>{t(verbWord(first))}</Button>}
          {second && (
            <Button variant="default" onClick={() => onIntent(second)}>
              {t(verbWord(second))}
            </Button>
          )}
          {rest.length > 0 && (
            <Menu position="bottom-end">
              <Menu.Target>
                <ActionIcon aria-label={t("common.more")} variant="default">
                  <Ellipsis size={16} />
                </ActionIcon>
              </Menu.Target>
              <Menu.Dropdown>
                {rest.map((x) => (
                  <Menu.Item key={x.verb} onClick={() => onIntent(x)}>
                    {t(verbWord(x))}
                  </Menu.Item>
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
