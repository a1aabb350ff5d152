import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError, type Instance } from "../api/client";
import { rerunAnew } from "../api/commands";
import { graphQuery, workflowQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "./ErrorView";

/** RerunForm repeats an instance as a new one: on its own version or the newest, with parameters to change. */
export function RerunForm({ instance, onClose }: { instance: Instance; onClose: () => void }) {
  const { t } = useSay();
  const go = useNavigate();
  const { project, workflow, id } = instance;
  const [version, setVersion] = useState(instance.version);
  const hub = useQuery(workflowQuery(project, workflow));
  const graph = useQuery(graphQuery(project, workflow, version));
  const again = useMutation({
    mutationFn: (params: Record<string, string>) => rerunAnew(id, version, params),
    onSuccess: (made) => {
      onClose();
      void go({ to: "/p/$project/r/$id", params: { project, id: made.id } });
    },
  });
  const published = hub.data?.published ?? 0;
  const newest = published > 0 && published !== instance.version ? published : undefined;
  const wrong = again.error instanceof ApiError ? again.error.fields : [];
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const params: Record<string, string> = {};
    for (const p of graph.data?.params ?? []) {
      const value = form.get(p.name);
      // What the first start left to the definition stays the definition's, which may be an expression.
      if (typeof value === "string" && (value !== (p.default ?? "") || p.name in instance.params)) params[p.name] = value;
    }
    again.mutate(params);
  };
  return (
    <form className="stack" onSubmit={submit}>
      <Select
        label={t("hub.startVersion")}
        data={[
          { value: String(instance.version), label: t("act.sameVersion", { n: instance.version }) },
          ...(newest === undefined ? [] : [{ value: String(newest), label: t("act.newestVersion", { n: newest }) }]),
        ]}
        value={String(version)}
        onChange={(v) => setVersion(Number(v ?? instance.version))}
      />
      {graph.isError && <ErrorView error={graph.error} retry={() => void graph.refetch()} />}
      {graph.isPending && <SkeletonRows rows={2} />}
      {graph.data?.params.length === 0 && <p className="faint">{t("hub.noParams")}</p>}
      {graph.data?.params.map((p) => (
        <TextInput
          key={`${version} ${p.name}`}
          name={p.name}
          label={`${p.name} (${p.type})`}
          description={p.description}
          defaultValue={instance.params[p.name] ?? p.default}
          error={wrong.find((f) => f.field === `params.${p.name}` || f.field === p.name)?.message}
          autoComplete="off"
        />
      ))}
      {graph.data && <p>{t("act.anewHint", { count: graph.data.tasks.length, id })}</p>}
      {again.isError && <ErrorView error={again.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" disabled={!graph.isSuccess} loading={again.isPending}>
          {t("act.anewButton")}
        </Button>
      </div>
    </form>
  );
}
