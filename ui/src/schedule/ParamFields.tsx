import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { workflowOverviewQuery } from "../api/account";
import type { Param } from "../api/client";
import { graphQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";

interface Props {
  project: string;
  workflow: string;
  values: Record<string, string>; // one that is not there is as declared
  wrong: (field: string) => string | undefined;
  onChange: (values: Record<string, string>) => void;
}

/** ParamFields ask for the values of what the published version declares. */
export function ParamFields({ project, workflow, values, wrong, onChange }: Props) {
  const { t } = useSay();
  const workflows = useQuery(workflowOverviewQuery(project));
  const version = workflows.data?.find((w) => w.name === workflow)?.published ?? 0;
  const graph = useQuery({ ...graphQuery(project, workflow, version), enabled: version > 0 });
  if (graph.isError) return <ErrorView error={graph.error} retry={() => void graph.refetch()} />;
  if (version > 0 && graph.isPending) return <SkeletonRows rows={1} />;
  const declared = graph.data?.params ?? [];
  // One that is no longer declared is shown with what the server says to it.
  const others = Object.keys(values).filter((name) => graph.isSuccess && !declared.some((p) => p.name === name));
  const put = (name: string, value: string | undefined) => {
    const { [name]: _, ...rest } = values;
    onChange(value === undefined ? rest : { ...rest, [name]: value });
  };
  return (
    <>
      {declared.map((p) => (
        <ParamField key={p.name} param={p} value={values[p.name]} error={wrong(`params.${p.name}`)} onChange={(v) => put(p.name, v)} />
      ))}
      {others.map((name) => (
        <TextInput
          key={name}
          label={name}
          value={values[name] ?? ""}
          error={wrong(`params.${name}`)}
          onChange={(e) => put(name, e.currentTarget.value || undefined)}
        />
      ))}
      {declared.length + others.length === 0 && graph.isSuccess && <p className="faint">{t("hub.noParams")}</p>}
    </>
  );
}

interface ParamProps {
  param: Param;
  value: string | undefined; // undefined is as declared
  error: string | undefined;
  onChange: (value: string | undefined) => void;
}

function ParamField({ param, value, error, onChange }: ParamProps) {
  const { t } = useSay();
  const common = {
    label: `${param.name} (${param.type})`,
    description: param.description,
    error,
    withAsterisk: param.default === undefined,
  };
  const empty = param.default === undefined ? t("hub.required") : t("schedules.paramEmpty", { value: param.default });
  const choices = param.enum && param.enum.length > 0 ? param.enum : param.type === "boolean" ? ["true", "false"] : undefined;
  if (choices) {
    return (
      <Select
        {...common}
        data={[{ value: "", label: empty }, ...choices.map((c) => ({ value: c, label: c }))]}
        value={value ?? ""}
        onChange={(v) => onChange(v || undefined)}
      />
    );
  }
  return (
    <TextInput
      {...common}
      value={value ?? ""}
      placeholder={empty}
      onChange={(e) => onChange(e.currentTarget.value || undefined)}
      autoComplete="off"
    />
  );
}
