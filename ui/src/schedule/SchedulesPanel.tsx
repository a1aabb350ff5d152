import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Plus, Search } from "lucide-react";
import { type Schedule, schedulesQuery } from "../api/schedules";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { RowMenu } from "../parts/RowMenu";
import { type SchedulesSearch, standings } from "../searchSchedule";
import { useWhyNot } from "../shell/me";
import { ScheduleActs } from "./Acts";
import { BulkSwitch } from "./BulkSwitch";
import { ScheduleDrawer } from "./ScheduleDrawer";
import { ScheduleTable } from "./ScheduleTable";
import { stands } from "./standing";
import { useResume } from "./useResume";
import "../account/account.css";
import "./schedule.css";

interface Props {
  project: string;
  workflow?: string; // of this one alone
  search: SchedulesSearch;
  set: (part: SchedulesSearch, replace?: boolean) => void;
}

const words = { on: "schedules.isOn", off: "schedules.isOff", bad: "schedules.isBad" } as const;

/** shownOf are the schedules that the filters want. */
function shownOf(all: Schedule[], { q = "", w, is }: SchedulesSearch): Schedule[] {
  return all.filter((s) => s.name.toLowerCase().includes(q.toLowerCase()) && (w === undefined || s.workflow === w) && stands(s, is));
}

/** SchedulesPanel lists the schedules of a project, or of one workflow, with all that can be done with them. */
export function SchedulesPanel({ project, workflow, search, set }: Props) {
  const { t } = useSay();
  const list = useQuery(schedulesQuery(project, workflow));
  const why = useWhyNot(project);
  const edits = why("editor");
  const all = list.data ?? [];
  const one = all.find((s) => s.id === search.id);
  const close = () => set({ do: undefined, id: undefined }, true);
  const create = (
    <Guarded leftSection={<Plus size={14} />} why={edits} onClick={() => set({ new: "1" })}>
      {t("schedules.new")}
    </Guarded>
  );
  return (
    <div className="schedules">
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : all.length === 0 ? (
        <div className="empty">
          <h2>{t("schedules.emptyTitle")}</h2>
          <p>{t("schedules.empty")}</p>
          <div>{create}</div>
        </div>
      ) : (
        <List all={all} project={project} workflow={workflow} search={search} set={set} create={create} />
      )}
      <ScheduleDrawer
        opened={search.new === "1" && edits === undefined}
        project={project}
        workflow={workflow}
        onClose={() => set({ new: undefined }, true)}
      />
      {one && <ScheduleActs schedule={one} act={search.do} onClose={close} />}
      <BulkSwitch
        project={project}
        workflow={workflow ?? search.w}
        text={search.q}
        these={search.is === "bad" ? shownOf(all, search) : undefined}
        verb={why("operator") === undefined ? search.all : undefined}
        onClose={() => set({ all: undefined }, true)}
      />
    </div>
  );
}

function List({ all, project, workflow, search, set, create }: Props & { all: Schedule[]; create: React.ReactNode }) {
  const { t } = useSay();
  const runs = useWhyNot(project)("operator");
  const resume = useResume();
  const { q = "", w, is } = search;
  const shown = shownOf(all, search);
  const already = (off: boolean) => (is === (off ? "off" : "on") ? t(off ? "schedules.areOff" : "schedules.areOn") : undefined);
  const workflows = [...new Set(all.map((s) => s.workflow))].sort();
  return (
    <>
      <div className="list-tools schedule-tools">
        <TextInput
          data-filter
          aria-label={t("schedules.filter")}
          placeholder={t("schedules.filter")}
          leftSection={<Search size={13} />}
          value={q}
          onChange={(e) => set({ q: e.currentTarget.value || undefined }, true)}
        />
        {workflow === undefined && (
          <Select
            aria-label={t("schedules.workflow")}
            data={[{ value: "", label: t("schedules.allWorkflows") }, ...workflows.map((name) => ({ value: name, label: name }))]}
            value={w ?? ""}
            onChange={(v) => set({ w: v || undefined })}
            searchable
          />
        )}
        <Select
          aria-label={t("schedules.is")}
          data={[{ value: "", label: t("schedules.isAll") }, ...standings.map((x) => ({ value: x, label: t(words[x]) }))]}
          value={is ?? ""}
          onChange={(v) => set({ is: standings.find((x) => x === v) })}
        />
        <span className="faint" role="status">
          {t("schedules.count", { count: shown.length })}
        </span>
        <span className="push schedule-do">
          <RowMenu
            label={t("common.more")}
            actions={[
              { label: t("schedules.pauseAll"), run: () => set({ all: "pause" }), why: runs ?? already(true) },
              { label: t("schedules.resumeAll"), run: () => set({ all: "resume" }), why: runs ?? already(false) },
            ]}
          />
          {create}
        </span>
      </div>
      {resume.isError && <ErrorView error={resume.error} />}
      {shown.length === 0 ? (
        <div className="empty">
          <p>{t("schedules.noMatch")}</p>
          <Button variant="default" onClick={() => set({ q: undefined, w: undefined, is: undefined }, true)}>
            {t("schedules.showAll")}
          </Button>
        </div>
      ) : (
        <ScheduleTable
          list={shown}
          showWorkflow={workflow === undefined}
          onAct={(act, s) => (act === "resume" ? resume.mutate(s) : set({ do: act, id: s.id }))}
        />
      )}
    </>
  );
}
