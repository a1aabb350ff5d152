import { getRouteApi } from "@tanstack/react-router";
import { useSay } from "../i18n";
import { ProjectNav } from "../parts/ProjectNav";
import { useStay } from "../parts/useStay";
import { ListOrHeat } from "../schedule/ListOrHeat";
import { SchedulesPanel } from "../schedule/SchedulesPanel";
import type { SchedulesSearch } from "../searchSchedule";

const route = getRouteApi("/p/$project/schedules");

/** SchedulesPage lists what starts by itself in a project. */
export function SchedulesPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const set = (part: SchedulesSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  return (
    <div className="page fill">
      <ProjectNav project={project} />
      <div className="title-row">
        <h1>{t("schedules.titleOf", { project })}</h1>
      </div>
      <ListOrHeat project={project} search={search} set={set}>
        <SchedulesPanel project={project} search={search} set={set} />
      </ListOrHeat>
    </div>
  );
}
