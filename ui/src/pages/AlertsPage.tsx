import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { TriangleAlert } from "lucide-react";
import { useMemo } from "react";
import { allListenersQuery, type Listener } from "../api/listeners";
import { projectsQuery } from "../api/queries";
import { tellsFailures } from "../domain/listen/filter";
import { may } from "../domain/rights";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import "../account/account.css";
import "../listener/listener.css";
import "../parts/guarded.css";

/** AlertsPage says for each project who is told about failures, first of all where nobody is. */
export function AlertsPage() {
  const { t } = useSay();
  const projects = useQuery(projectsQuery);
  const mine = (projects.data ?? []).filter((p) => may(p.role, "operator"));
  const listeners = useQuery(allListenersQuery);
  const of = useMemo(() => {
    const all = new Map<string, Listener[]>();
    for (const l of listeners.data?.items ?? []) all.set(l.project, [...(all.get(l.project) ?? []), l]);
    return all;
  }, [listeners.data]);
  return (
    <div className="page">
      <div className="title-row">
        <h1>{t("alerts.title")}</h1>
        <span className="faint">{t("alerts.about")}</span>
      </div>
      {projects.isError ? (
        <ErrorView error={projects.error} retry={() => void projects.refetch()} />
      ) : projects.isPending || listeners.isPending ? (
        <SkeletonRows />
      ) : mine.length === 0 ? (
        <p className="empty">{t("alerts.none")}</p>
      ) : (
        <>
          {listeners.isError && <ErrorView error={listeners.error} retry={() => void listeners.refetch()} />}
          <div className="scroll-x" tabIndex={0} role="group" aria-label={t("alerts.title")}>
            <table className="plain">
              <thead>
                <tr>
                  <th>{t("alerts.project")}</th>
                  <th>{t("alerts.told")}</th>
                  <th>{t("listeners.standing")}</th>
                </tr>
              </thead>
              <tbody>
                {mine.map((p) => (
                  <Row key={p.id} project={p.name} listeners={of.get(p.name) ?? []} />
                ))}
              </tbody>
            </table>
          </div>
          {listeners.data?.cut && <p className="faint meta">{t("alerts.cut")}</p>}
        </>
      )}
    </div>
  );
}

function Row({ project, listeners }: { project: string; listeners: Listener[] }) {
  const { t } = useSay();
  const dead = listeners.reduce((sum, l) => sum + l.dead, 0);
  const covered = listeners.some((l) => tellsFailures(l.filter, l.enabled));
  return (
    <tr>
      <td>
        <Link to="/p/$project/listeners" params={{ project }}>
          {project}
        </Link>
      </td>
      <td>
        {listeners
          .filter((l) => l.enabled)
          .map((l, i) => (
            <span key={l.name}>
              {i > 0 && ", "}
              <Link to="/p/$project/listeners" params={{ project }} search={{ open: l.name }}>
                {l.name}
              </Link>
            </span>
          ))}
        {!covered && (
          <span className="standings">
            {listeners.some((l) => l.enabled) && " "}
            <span className="state-word text-retry">
              <TriangleAlert size={14} aria-hidden="true" /> {t("alerts.nobody")}
            </span>
            <Link to="/p/$project/listeners" params={{ project }} search={{ new: "1" }}>
              {t("alerts.add")}
              <span className="unseen"> {project}</span>
            </Link>
          </span>
        )}
      </td>
      <td>
        {dead > 0 ? (
          <span className="state-word text-failed">
            <StateIcon state="failed" size={14} /> {t("alerts.dead", { count: dead })}
          </span>
        ) : (
          <span className="faint">–</span>
        )}
      </td>
    </tr>
  );
}
