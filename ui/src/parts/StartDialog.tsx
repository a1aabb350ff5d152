import { Button, Select, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useMemo, useState } from "react";
import { ApiError, type Param } from "../api/client";
import { start } from "../api/commands";
import { graphQuery, type RerunScope } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "./ErrorView";
import { Modal } from "./layers";

/** StartFrom says which tasks a start is about. */
export interface StartFrom {
  tasks: string[];
  scope: RerunScope;
}

interface Props {
  workflow: { project: string; name: string; published: number };
  version: number;
  opened: boolean;
  onClose: () => void;
  from?: StartFrom;
  /** onStarted is called instead of going to the new instance. */
  onStarted?: (id: string) => void;
}

const scopes = { only: "hub.startOnly", upstream: "hub.startUpstream", downstream: "hub.startDownstream" } as const;

/** StartDialog asks for the parameters that the version declares, and starts it. */
export function StartDialog({ workflow, version, opened, onClose, from, onStarted }: Props) {
  const { t } = useSay();
  const go = useNavigate();
  const { project, name } = workflow;
  const graph = useQuery({ ...graphQuery(project, name, version), enabled: opened && version > 0 });
  // One key per opened dialog: two clicks are one start.
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening it again is another start
  const key = useMemo(() => `console-${Date.now()}-${Math.random().toString(36).slice(2)}`, [opened]);
  const [last, setLast] = useState<Record<string, string>>();
  const begin = useMutation({
    mutationFn: start,
    onSuccess: (started, wish) => {
      keepLast(project, name, wish.params);
      if (onStarted) onStarted(started.instance_id);
      else void go({ to: "/p/$project/r/$id", params: { project, id: started.instance_id } });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const params: Record<string, string> = {};
    for (const p of graph.data?.params ?? []) {
      const value = form.get(p.name);
      // What is left as it was declared stays the definition's, which may be an expression.
      if (typeof value === "string" && value !== (p.default ?? "")) params[p.name] = value;
    }
    begin.mutate({ project, workflow: name, version, params, key, from, dryRun: form.get("dry_run") !== null });
  };
  const kept = useMemo(() => (opened ? lastOf(project, name) : undefined), [opened, project, name]);
  const wrong = begin.error instanceof ApiError ? begin.error.fields : [];
  return (
    <Modal opened={opened} onClose={onClose} title={t("hub.startTitle", { workflow: name })} size="md">
      <form className="stack" onSubmit={submit}>
        <p className="faint">
          {t("hub.startVersion")} {t("common.version", { n: version })}
          {version === workflow.published ? `, ${t("hub.published")}` : ""}
        </p>
        {from && <p>{t(scopes[from.scope], { tasks: from.tasks.join(", ") })}</p>}
        {graph.isError ? (
          <ErrorView error={graph.error} retry={() => void graph.refetch()} />
        ) : graph.isPending ? (
          <SkeletonRows rows={2} />
        ) : null}
        {graph.data?.params.length === 0 && <p>{t("hub.noParams")}</p>}
        {graph.data?.params.map((p) => (
          <ParamField
            key={`${p.name} ${last !== undefined}`}
            param={p}
            last={last?.[p.name]}
            error={wrong.find((f) => f.field === `params.${p.name}` || f.field === p.name)?.message}
          />
        ))}
        {kept && last === undefined && (graph.data?.params ?? []).some((p) => p.name in kept) && (
          <button type="button" className="link" onClick={() => setLast(kept)}>
            {t("hub.useLast")}
          </button>
        )}
        <Switch name="dry_run" label={t("hub.dryRun")} description={t("hub.dryRunHint")} />
        {begin.isError && <ErrorView error={begin.error} />}
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button
            type="submit"
            loading={begin.isPending}
            disabled={!graph.isSuccess}
            data-autofocus={graph.data?.params.length === 0 || undefined}
          >
            {t("hub.startButton")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** lastOf gives the values that this browser has started the workflow with before. */
function lastOf(project: string, workflow: string): Record<string, string> | undefined {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(`porpoise.params.${project}/${workflow}`) ?? "null");
    if (typeof kept !== "object" || kept === null) return undefined;
    return Object.fromEntries(Object.entries(kept).filter(([, v]) => typeof v === "string"));
  } catch {
    return undefined; // storage is off or damaged
  }
}

function keepLast(project: string, workflow: string, params: Record<string, string>): void {
  try {
    if (Object.keys(params).length > 0) localStorage.setItem(`porpoise.params.${project}/${workflow}`, JSON.stringify(params));
  } catch {
    // Storage is full or off: the values are typed again.
  }
}

function ParamField({ param, last, error }: { param: Param; last: string | undefined; error: string | undefined }) {
  const { t } = useSay();
  const common = {
    name: param.name,
    label: `${param.name} (${param.type})`,
    description: param.description,
    error,
    required: param.default === undefined,
    withAsterisk: param.default === undefined,
  };
  const begun = last ?? param.default;
  const choices = param.enum && param.enum.length > 0 ? param.enum : param.type === "boolean" ? ["true", "false"] : undefined;
  if (choices) return <Select {...common} data={choices} defaultValue={begun} />;
  return (
    <TextInput
      {...common}
      defaultValue={begun}
      inputMode={param.type === "integer" ? "numeric" : undefined}
      placeholder={param.default === undefined ? t("hub.required") : undefined}
      autoComplete="off"
    />
  );
}
