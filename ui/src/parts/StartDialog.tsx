import { Button, Modal, Select, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useMemo } from "react";
import { ApiError, type Param, type Workflow } from "../api/client";
import { start } from "../api/commands";
import { graphQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "./ErrorView";

interface Props {
  workflow: Workflow;
  version: number;
  opened: boolean;
  onClose: () => void;
}

/** StartDialog asks for the parameters that the version declares, and starts it. */
export function StartDialog({ workflow, version, opened, onClose }: Props) {
  const { t } = useSay();
  const go = useNavigate();
  const { project, name } = workflow;
  const graph = useQuery({ ...graphQuery(project, name, version), enabled: opened && version > 0 });
  // One key per opened dialog: two clicks are one start.
  // biome-ignore lint/correctness/useExhaustiveDependencies: opening it again is another start
  const key = useMemo(() => `console-${Date.now()}-${Math.random().toString(36).slice(2)}`, [opened]);
  const begin = useMutation({
    mutationFn: start,
    onSuccess: (started) => void go({ to: "/p/$project/r/$id", params: { project, id: started.instance_id } }),
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
    begin.mutate({ project, workflow: name, version, params, key });
  };
  const wrong = begin.error instanceof ApiError ? begin.error.fields : [];
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title={t("hub.startTitle", { workflow: name })}
      closeButtonProps={{ "aria-label": t("common.close") }}
      size="md"
    >
      <form className="stack" onSubmit={submit}>
        <p className="faint">
          {t("hub.startVersion")} {t("common.version", { n: version })}
          {version === workflow.published ? `, ${t("hub.published")}` : ""}
        </p>
        {graph.isError ? (
          <ErrorView error={graph.error} retry={() => void graph.refetch()} />
        ) : graph.isPending ? (
          <SkeletonRows rows={2} />
        ) : null}
        {graph.data?.params.length === 0 && <p>{t("hub.noParams")}</p>}
        {graph.data?.params.map((p) => (
          <ParamField key={p.name} param={p} error={wrong.find((f) => f.field === `params.${p.name}` || f.field === p.name)?.message} />
        ))}
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

function ParamField({ param, error }: { param: Param; error: string | undefined }) {
  const { t } = useSay();
  const common = {
    name: param.name,
    label: `${param.name} (${param.type})`,
    description: param.description,
    error,
    required: param.default === undefined,
    withAsterisk: param.default === undefined,
  };
  if (param.enum && param.enum.length > 0) return <Select {...common} data={param.enum} defaultValue={param.default} />;
  return (
    <TextInput
      {...common}
      defaultValue={param.default}
      placeholder={param.default === undefined ? t("hub.required") : undefined}
      autoComplete="off"
    />
  );
}
