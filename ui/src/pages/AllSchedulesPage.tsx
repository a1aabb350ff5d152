import { Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { schedulesQuery } from "../api/schedules";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { useStay } from "../parts/useStay";
import { ListOrHeat } from "../schedule/ListOrHeat";
import { ScheduleTable } from "../schedule/ScheduleTable";
import { stands } from "../schedule/standing";
import { useResume } from "../schedule/useResume";
import type { AllSchedulesSearch } from "../searchPages";
import { standings } from "../searchSchedule";
import "../account/account.css";
import "../schedule/schedule.css";

const route = getRouteApi("/schedules");
const words = { on: "schedules.isOn", off: "schedules.isOff", bad: "schedules.isBad" } as const;

/** AllSchedulesPage lists what starts by itself in all projects. */
export function AllSchedulesPage() {
  const { t } = useSay();
  const search = route.useSearch();
  const { q = "", is, project } = search;
  const go = useStay(route.useNavigate());
  const leave = useNavigate();
  const list = useQuery(schedulesQuery());
  const resume = useResume();
  const set = (part: AllSchedulesSearch) => void go({ search: (s) => ({ ...s, ...part }), replace: true });
  const all = list.data ?? [];
  const text = q.toLowerCase();
  const shown = all.filter(
    (s) => `${s.name} ${s.workflow}`.toLowerCase().includes(text) && (project === undefined || s.project === project) && stands(s, is),
  );
  return (
    <div className="page fill">
      <div className="title-row">
        <h1>{t("schedules.allTitle")}</h1>
      </div>
      <ListOrHeat project={project} search={search} set={(part, replace) => void go({ search: (s) => ({ ...s, ...part }), replace })}>
        {list.isError ? (
          <ErrorView error={list.error} retry={() => void list.refetch()} />
        ) : list.isPending ? (
          <SkeletonRows rows={8} />
        ) : all.length === 0 ? (
          <p className="empty">{t("schedules.allEmpty")}</p>
        ) : (
          <div className="schedules">
            <div className="list-tools schedule-tools">
              <TextInput
                data-filter
                aria-label={t("schedules.filter")}
                placeholder={t("schedules.filter")}
                leftSection={<Search size={13} />}
                value={q}
                onChange={(e) => set({ q: e.currentTarget.value || undefined })}
              />
              <Select
                aria-label={t("tasks.project")}
                placeholder={t("tasks.project")}
                data={[...new Set(all.map((s) => s.project))].sort()}
                value={project ?? null}
                onChange={(v) => set({ project: v ?? undefined })}
                clearable
                searchable
                clearButtonProps={{ "aria-label": t("common.clear") }}
              />
              <Select
                aria-label={t("schedules.is")}
                data={[{ value: "", label: t("schedules.isAll") }, ...standings.map((x) => ({ value: x, label: t(words[x]) }))]}
                value={is ?? ""}
                onChange={(v) => set({ is: standings.find((x) => x === v) })}
              />
              <span className="faint" role="status">
                {t("schedules.count", { count: shown.length })}
              </span>
            </div>
            {resume.isError && <ErrorView error={resume.error} />}
            {shown.length === 0 ? (
              <p className="empty">{t("schedules.noMatch")}</p>
            ) : (
              <ScheduleTable
                list={shown}
                showWorkflow
                showProject
                onAct={(act, s) =>
                  act === "resume"
                    ? resume.mutate(s)
                    : void leave({
                        to: "/p/$project/w/$workflow/s/$schedule",
                        params: { project: s.project, workflow: s.workflow, schedule: s.name },
                        search: { do: act },
                      })
                }
              />
            )}
          </div>
        )}
      </ListOrHeat>
    </div>
  );
}
