import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { projectsQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";

export function ProjectsPage() {
  const { t } = useSay();
  const projects = useQuery(projectsQuery);
  return (
    <div className="page">
      <h1>{t("projects.title")}</h1>
      {projects.isError ? (
        <ErrorView error={projects.error} retry={() => void projects.refetch()} />
      ) : projects.isPending ? (
        <SkeletonRows />
      ) : projects.data.length === 0 ? (
        <p className="empty">{t("projects.empty")}</p>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th>{t("projects.name")}</th>
              <th>{t("projects.description")}</th>
              <th>{t("projects.role")}</th>
            </tr>
          </thead>
          <tbody>
            {projects.data.map((p) => (
              <tr key={p.id}>
                <td>
                  <Link to="/p/$project/workflows" params={{ project: p.name }}>
                    {p.name}
                  </Link>
                </td>
                <td className="wide">{p.description}</td>
                <td className="faint">{p.role}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
