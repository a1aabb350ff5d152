import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { ApiError } from "../api/client";
import { evaluate, type Value, valuesQuery } from "../api/instances";
import { type Sentence, useSay } from "../i18n";
import { CopyButton } from "../parts/CopyButton";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Tree } from "./Tree";

const origins: Record<Value["origin"], Sentence> = {
  start: "run.startParam",
  project: "instance.originProject",
  workflow: "instance.originWorkflow",
  task: "instance.originTask",
  output: "instance.originOutput",
  built_in: "instance.originBuiltIn",
  env: "instance.originEnv",
};

/** Parameters lists what the start and the definition gave and what the tasks gave on, or what one task gets. */
export function Parameters({ id, task }: { id: string; task?: string }) {
  const { t } = useSay();
  const values = useQuery(valuesQuery(id, task));
  if (values.isError) return <ErrorView error={values.error} retry={() => void values.refetch()} />;
  if (values.isPending) return <SkeletonRows rows={3} />;
  if (task !== undefined)
    return (
      <>
        {values.data.length === 0 ? (
          <p className="empty">{t("run.noParams")}</p>
        ) : (
          <Values title={t("instance.resolved")} rows={values.data} />
        )}
        <Evaluate id={id} task={task} />
      </>
    );
  const given = values.data.filter((v) => v.origin !== "output");
  const outputs = values.data.filter((v) => v.origin === "output");
  return (
    <div className="params" tabIndex={0} role="region" aria-label={t("run.params")}>
      {values.data.length === 0 && <p className="empty">{t("run.noParams")}</p>}
      {given.length > 0 && <Values title={t("instance.params")} rows={given} consumers />}
      {outputs.length > 0 && <Values title={t("run.outputs")} rows={outputs} consumers />}
      <Evaluate id={id} />
    </div>
  );
}

/** Evaluate works out what is typed, as a condition would, with the values of the instance, or with those that a task sees. */
function Evaluate({ id, task }: { id: string; task?: string }) {
  const { t } = useSay();
  const work = useMutation({ mutationFn: (expression: string) => evaluate(id, expression, task) });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const expression = String(new FormData(event.currentTarget).get("expression")).trim();
    if (expression !== "") work.mutate(expression);
  };
  return (
    <form className="evaluate" onSubmit={submit}>
      <TextInput
        name="expression"
        className="evaluate-text"
        label={t("run.evaluate")}
        description={t(task === undefined ? "run.evaluateAbout" : "run.evaluateTask")}
        classNames={{ input: "mono" }}
        maxLength={4096}
        autoComplete="off"
        spellCheck={false}
        error={work.error instanceof ApiError && work.error.status === 422 ? work.error.message : undefined}
      />
      <Button type="submit" variant="default" loading={work.isPending}>
        {t("run.evaluateDo")}
      </Button>
      {work.isError && !(work.error instanceof ApiError && work.error.status === 422) && <ErrorView error={work.error} />}
      <output className="mono value" aria-label={t("run.evaluated")}>
        {work.data !== undefined && <Tree text={work.data} />}
      </output>
    </form>
  );
}

function Values({ title, rows, consumers = false }: { title: string; rows: Value[]; consumers?: boolean }) {
  const { t } = useSay();
  return (
    <>
      <h3>{title}</h3>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("run.name")}</th>
            <th>{t("run.value")}</th>
            <th>{t("run.from")}</th>
            {consumers && <th>{t("instance.consumers")}</th>}
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={`${r.from ?? ""} ${r.name}`}>
              <td className="mono">{r.name}</td>
              <td className="mono value">
                <Tree text={r.value} /> <CopyButton value={r.value} label={`${t("common.copy")} ${r.name}`} />
              </td>
              <td className="faint">{r.from ?? t(origins[r.origin])}</td>
              {consumers && <td className="faint">{r.consumers?.join(", ") || "–"}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
