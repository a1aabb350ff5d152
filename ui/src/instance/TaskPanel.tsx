import { ActionIcon, SegmentedControl } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { Suspense } from "react";
import type { Attempt, Instance, Task } from "../api/client";
import { hasAbout, taskVerbs } from "../domain/states";
import { type Sentence, useSay } from "../i18n";
import { LogPanel } from "../log/LogPanel";
import { SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { piece } from "../parts/piece";
import { StateWord } from "../parts/StateIcon";
import { type Intent, verbWord } from "../parts/verbs";
import { type TaskSearch, taskPanels } from "../search";
import { useWhyNot } from "../shell/me";
import { Parameters } from "./Parameters";
import { Why } from "./Why";

interface Props {
  instance: Instance;
  task: Task | undefined;
  name: string;
  attempts: Attempt[];
  loading: boolean;
  search: TaskSearch;
  set: (part: TaskSearch, replace?: boolean) => void;
  onShow: (task: string) => void;
  onClose: () => void;
  onIntent: (intent: Intent) => void;
}

type Panel = (typeof taskPanels)[number];
const words: Record<Panel, Sentence> = {
  log: "instance.log",
  about: "about.choice",
  attempts: "run.attempts",
  values: "instance.values",
  why: "run.explain",
};

const abouts: Partial<Record<string, Sentence>> = {
  approval: "about.approval",
  sub_workflow: "about.child",
  dynamic: "about.children",
  dependent: "about.dependent",
};
const Attempts = piece(() => import("./Attempts").then((m) => m.Attempts));
const About = piece(() => import("./about/About").then((m) => m.About));

/** TaskPanel is one task beside the graph: its log, attempts and values, why it is so, and what can be done. */
export function TaskPanel({ instance, task, name, attempts, loading, search, set, onShow, onClose, onIntent }: Props) {
  const { t } = useSay();
  const why = useWhyNot(instance.project)("operator");
  const latest = attempts.at(-1)?.number ?? 0;
  const wanted = Number(search.attempt ?? 0);
  const attempt = attempts.some((a) => a.number === wanted) ? wanted : latest;
  const verbs = task ? taskVerbs(instance.state, task.state) : [];
  // A task in a branch that was not taken has the choice to show.
  const passed = task?.reason === "not_chosen";
  const about = task !== undefined && (passed || hasAbout(task.type));
  const panels = taskPanels.filter((p) => (p === "about" ? about : p !== "log" || !about));
  const asked = panels.find((p) => p === search.panel) ?? panels[0] ?? "why";
  // Before the first attempt there is no log: why it has not begun is what a person wants to know.
  const panel: Panel = attempts.length === 0 && (asked === "log" || (asked === "about" && !passed)) ? "why" : asked;
  const named = (p: Panel) => t((p === "about" && !passed && task && abouts[task.type]) || words[p]);
  const intents: Intent[] = verbs.map(
    (verb): Intent => (verb === "rerun" ? { verb, task: name, scope: "downstream" } : { verb, task: name }),
  );
  const tabs = (
    <SegmentedControl
      className="task-tabs"
      aria-label={name}
      data={panels.map((p) => ({ value: p, label: named(p) }))}
      value={panel}
      onChange={(v) => set({ panel: taskPanels.find((p) => p === v) }, true)}
    />
  );
  return (
    <aside className="task-panel" aria-label={name}>
      {loading ? (
        <SkeletonRows />
      ) : panel === "log" ? (
        <LogPanel
          tabs={tabs}
          id={instance.id}
          task={name}
          attempts={attempts}
          attempt={attempt}
          search={search}
          set={set}
          onClose={onClose}
        />
      ) : (
        <>
          <div className="log-head">
            {tabs}
            <h2 title={name}>{name}</h2>
            {task && <StateWord state={task.state} size={14} />}
            <ActionIcon aria-label={t("log.close")} onClick={onClose}>
              <X size={16} />
            </ActionIcon>
          </div>
          <div className="panel-body" tabIndex={0} role="region" aria-label={named(panel)}>
            {panel === "about" && task ? (
              <Suspense fallback={<SkeletonRows />}>
                <About
                  instance={instance}
                  task={task}
                  attempts={attempts}
                  inside={search.inside}
                  onInside={(inside) => set({ inside })}
                  onShow={onShow}
                />
              </Suspense>
            ) : panel === "attempts" ? (
              <Suspense fallback={<SkeletonRows />}>
                <Attempts
                  id={instance.id}
                  task={name}
                  attempts={attempts}
                  chosen={attempt}
                  onLog={about ? undefined : (n) => set({ attempt: String(n), panel: "log" })}
                />
              </Suspense>
            ) : panel === "values" ? (
              <Parameters id={instance.id} task={name} />
            ) : (
              <Why id={instance.id} task={name} state={task?.state ?? ""} onShow={onShow} onIntent={onIntent} held={why} />
            )}
          </div>
        </>
      )}
      {task?.child_instance_id && panel !== "about" && (
        <Link className="task-child" to="/p/$project/r/$id" params={{ project: instance.project, id: task.child_instance_id }}>
          {t("run.child", { id: task.child_instance_id })}
        </Link>
      )}
      {intents.length > 0 && (
        <div className="task-actions">
          {intents.map((i) => (
            <Guarded key={i.verb} variant="default" why={why} onClick={() => onIntent(i)}>
              {t(verbWord(i))}
            </Guarded>
          ))}
        </div>
      )}
    </aside>
  );
}
