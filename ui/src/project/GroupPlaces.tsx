import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { forceTask, type GroupTask, taskGroupQuery } from "../api/settings";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Guarded } from "../parts/Guarded";
import { Drawer } from "../parts/layers";
import { StateWord } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import { told } from "../parts/told";
import { useWhyNot } from "../shell/me";
import { forcedWords } from "./forced";
import "@mantine/core/styles/Drawer.css";

interface Props {
  project: string;
  group: string | undefined;
  onClose: () => void;
}

/** GroupPlaces is who has the places of a task group, and who waits for them; one that waits may be let go at once. */
export function GroupPlaces({ project, group, onClose }: Props) {
  const { t } = useSay();
  return (
    <Drawer
      opened={group !== undefined}
      onClose={onClose}
      position="right"
      size="min(760px, 100%)"
      title={t("settings.groups.openOf", { name: group ?? "" })}
      classNames={{ title: "drawer-title" }}
    >
      {group !== undefined && <Body project={project} group={group} />}
    </Drawer>
  );
}

function Body({ project, group }: { project: string; group: string }) {
  const { t } = useSay();
  const client = useQueryClient();
  const one = useQuery(taskGroupQuery(project, group));
  const [asked, ask] = useState<GroupTask>();
  const force = useMutation({
    mutationFn: ({ task: x, reason }: { task: GroupTask; reason: string }) => forceTask(project, group, x.instance_id, x.task, reason),
    onSuccess: async (_, { task: x }) => {
      told(t("settings.groups.forceDone", { task: x.task }));
      ask(undefined);
      await client.invalidateQueries({ queryKey: ["instances", "groups", project] });
    },
  });
  if (one.isError) return <ErrorView error={one.error} retry={() => void one.refetch()} />;
  if (one.isPending) return <SkeletonRows />;
  const g = one.data;
  return (
    <div className="stack">
      <p className="num">
        {t("settings.groups.used", { used: g.used, size: g.size })}
        {g.waiting > 0 && `, ${t("settings.groups.waiting", { count: g.waiting })}`}
      </p>
      {asked && (
        <form
          className="moved stack"
          role="alert"
          onSubmit={(event) => {
            event.preventDefault();
            force.mutate({ task: asked, reason: String(new FormData(event.currentTarget).get("reason")).trim() });
          }}
        >
          <p>{t("settings.groups.forceAsk", { task: asked.task, id: asked.instance_id, size: g.size })}</p>
          <TextInput name="reason" label={t("settings.groups.reason")} required maxLength={1000} autoComplete="off" data-autofocus />
          <FormError error={force.error} />
          <div className="dialog-end">
            <Button variant="default" onClick={() => ask(undefined)}>
              {t("common.cancel")}
            </Button>
            <Button type="submit" loading={force.isPending}>
              {t("settings.groups.force")}
            </Button>
          </div>
        </form>
      )}
      <section>
        <h2>{t("settings.groups.holders")}</h2>
        <Tasks project={project} list={g.tasks.filter((x) => !x.waiting)} />
      </section>
      <section>
        <h2>{t("settings.groups.waiters")}</h2>
        <Tasks project={project} list={g.tasks.filter((x) => x.waiting)} onForce={ask} />
      </section>
    </div>
  );
}

function Tasks({ project, list, onForce }: { project: string; list: GroupTask[]; onForce?: (x: GroupTask) => void }) {
  const { t } = useSay();
  const why = useWhyNot(project)("operator");
  if (list.length === 0) return <p className="calm">{t("settings.groups.nobody")}</p>;
  return (
    <ol className="touched">
      {list.map((x) => (
        <li key={`${x.instance_id} ${x.task}`}>
          <span>
            <Link to="/p/$project/r/$id" params={{ project, id: x.instance_id }} search={{ task: x.task }}>
              {x.task}
            </Link>{" "}
            <span className="faint">
              {x.workflow} <span className="mono">{x.instance_id}</span>
            </span>
          </span>
          <span className="faint">
            {x.state && <StateWord state={x.state} size={14} />} {t("settings.groups.weight", { count: x.weight })}
            {x.forced && `, ${forcedWords(t, x)}`} · <Ago at={x.ready_at} />
            {onForce && (
              <Guarded variant="default" why={why} onClick={() => onForce(x)}>
                {t("settings.groups.force")}
                <span className="unseen">
                  {" "}
                  {x.task} {x.instance_id}
                </span>
              </Guarded>
            )}
          </span>
        </li>
      ))}
    </ol>
  );
}
