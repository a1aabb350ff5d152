import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Play } from "lucide-react";
import { useMemo } from "react";
import type { Instance } from "../api/client";
import { instancesQuery, workflowsQuery } from "../api/queries";
import { useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { Ago } from "../parts/Times";

const route = getRouteApi("/p/$project/workflows");
const stripLength = 10;

/** Strip is the last instances of a workflow, the newest at the right. */
export function Strip({ items }: { items: Instance[] }) {
  const { t } = useSay();
  if (items.length === 0) return <span className="faint">{t("workflows.never")}</span>;
  return (
    <span className="strip">
      {[...items].reverse().map((i) => (
        <Link key={i.id} to="/p/$project/r/$id" params={{ project: i.project, id: i.id }} title={`${i.id} ${word(t, "state", i.state)}`}>
          <StateIcon state={i.state} label={`${i.id} ${word(t, "state", i.state)}`} />
        </Link>
      ))}
    </span>
  );
}

export function WorkflowsPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const workflows = useQuery(workflowsQuery(project));
  const latest = useInfiniteQuery(instancesQuery({ project }, 200));
  const byWorkflow = useMemo(() => {
    const map = new Map<string, Instance[]>();
    for (const i of latest.data?.pages[0]?.items ?? []) {
      const list = map.get(i.workflow) ?? [];
      if (list.length < stripLength) list.push(i);
      map.set(i.workflow, list);
    }
    return map;
  }, [latest.data]);
  return (
    <div className="page">
      <nav className="crumbs" aria-label={t("nav.projects")}>
        <Link to="/projects">{t("nav.projects")}</Link>
      </nav>
      <h1>{t("workflows.title", { project })}</h1>
      {workflows.isError ? (
        <ErrorView error={workflows.error} retry={() => void workflows.refetch()} />
      ) : workflows.isPending ? (
        <SkeletonRows />
      ) : workflows.data.length === 0 ? (
        <p className="empty">{t("workflows.empty")}</p>
      ) : (
        <table className="plain">
          <thead>
            <tr>
              <th>{t("workflows.name")}</th>
              <th>{t("workflows.published")}</th>
              <th>{t("workflows.last")}</th>
              <th>{t("workflows.updated")}</th>
              <th aria-label={t("hub.start")} />
            </tr>
          </thead>
          <tbody>
            {workflows.data.map((w) => (
              <tr key={w.id}>
                <td>
                  <Link to="/p/$project/w/$workflow" params={{ project, workflow: w.name }}>
                    {w.name}
                  </Link>
                  <div className="faint about">{w.description}</div>
                </td>
                <td className="num">{w.published > 0 ? t("common.version", { n: w.published }) : t("workflows.notPublished")}</td>
                <td>
                  <Strip items={byWorkflow.get(w.name) ?? []} />
                </td>
                <td className="faint">
                  <Ago at={w.updated_at} />
                </td>
                <td className="end">
                  <Link
                    to="/p/$project/w/$workflow"
                    params={{ project, workflow: w.name }}
                    search={{ start: "1" }}
                    className="button-link"
                    aria-label={`${t("hub.start")} ${w.name}`}
                  >
                    <Play size={13} aria-hidden="true" /> {t("hub.start")}
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
