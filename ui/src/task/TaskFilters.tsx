import { SegmentedControl, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { projectsQuery, workflowsQuery } from "../api/queries";
import { useSay, word } from "../i18n";
import { FilterText } from "../parts/FilterText";
import { olderSpans, type TaskSide, type TasksSearch, taskSides } from "../searchPages";

const statesOf: Record<TaskSide, string[]> = { running: ["dispatched", "running", "killing"], waiting: ["ready", "retry_wait"] };

interface Props {
  search: TasksSearch;
  onFilter: (part: TasksSearch) => void;
  onClear: () => void;
}

/** TaskFilters are what the address asks for; typing replaces it after a moment. */
export function TaskFilters({ search, onFilter, onClear }: Props) {
  const { t } = useSay();
  const projects = useQuery(projectsQuery);
  const workflows = useQuery({ ...workflowsQuery(search.project ?? ""), enabled: search.project !== undefined });
  const clear = { "aria-label": t("common.clear") };
  const is = search.is ?? "running";
  const { is: _, ...narrowing } = search;
  const words = (name: "worker" | "group" | "places" | "q", label: string) => (
    <FilterText
      aria-label={label}
      placeholder={label}
      data-filter={name === "q" || undefined}
      leftSection={name === "q" ? <Search size={13} /> : undefined}
      value={search[name] ?? ""}
      onFilter={(v) => onFilter({ [name]: v })}
    />
  );
  return (
    <div className="filters">
      <SegmentedControl
        aria-label={t("tasks.which")}
        data={taskSides.map((side) => ({ value: side, label: t(`tasks.${side}`) }))}
        value={is}
        onChange={(v) =>
          onFilter({ is: taskSides.find((side) => side === v), st: undefined, ...(search.older === "usual" && { older: undefined }) })
        }
      />
      {words("q", t("tasks.filterName"))}
      <Select
        aria-label={t("tasks.project")}
        placeholder={t("tasks.project")}
        data={projects.data?.map((p) => p.name) ?? []}
        value={search.project ?? null}
        onChange={(v) => onFilter({ project: v ?? undefined, workflow: undefined })}
        clearable
        searchable
        clearButtonProps={clear}
      />
      <Select
        aria-label={t("tasks.workflow")}
        placeholder={t("tasks.workflow")}
        data={workflows.data?.map((w) => w.name) ?? []}
        value={search.workflow ?? null}
        onChange={(v) => onFilter({ workflow: v ?? undefined })}
        disabled={!search.project}
        clearable
        searchable
        clearButtonProps={clear}
      />
      <Select
        aria-label={t("tasks.state")}
        placeholder={t("tasks.state")}
        data={statesOf[is].map((s) => ({ value: s, label: word(t, "state", s) }))}
        value={search.st ?? null}
        onChange={(v) => onFilter({ st: v ?? undefined })}
        clearable
        clearButtonProps={clear}
      />
      <Select
        aria-label={t("tasks.older")}
        placeholder={t("tasks.older")}
        data={olderSpans
          .filter((o) => o !== "usual" || is === "waiting")
          .map((o) => ({ value: o, label: o === "usual" ? t("tasks.olderUsual") : `≥ ${o}` }))}
        value={search.older ?? null}
        onChange={(v) => onFilter({ older: olderSpans.find((o) => o === v) })}
        clearable
        clearButtonProps={clear}
      />
      {is === "running" && words("worker", t("tasks.worker"))}
      {words("group", t("tasks.group"))}
      {is === "waiting" && words("places", t("tasks.taskGroup"))}
      {Object.values(narrowing).some((v) => v !== undefined) && (
        <button type="button" className="link" onClick={onClear}>
          {t("common.clear")}
        </button>
      )}
    </div>
  );
}
