import { getRouteApi, Link } from "@tanstack/react-router";
import { useSay } from "../i18n";
import { useStay } from "../parts/useStay";
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
      <nav className="crumbs" aria-label={t("nav.projects")}>
        <Link to="/p/$project/workflows" params={{ project }}>
          {project}
        </Link>
      </nav>
      <div className="title-row">
        <h1>{t("schedules.titleOf", { project })}</h1>
      </div>
      <SchedulesPanel project={project} search={search} set={set} />
    </div>
  );
}
