import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { DayBar } from "../account/DayBar";
import { EditProject, NewProject } from "../account/ProjectDialogs";
import { RoleWord } from "../account/RoleWord";
import { useFresh } from "../account/useFresh";
import { deleteProject, overviewQuery, type ProjectOverview } from "../api/account";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { RowMenu } from "../parts/RowMenu";
import { TypedDelete } from "../parts/TypedDelete";
import type { ProjectsSearch } from "../searchAccount";
import { useMe, whyNot } from "../shell/me";
import "../account/account.css";
import { useStay } from "../parts/useStay";

const route = getRouteApi("/projects");

/** ProjectsPage lists the projects that one may see, with what went on in each. */
export function ProjectsPage() {
  const { t } = useSay();
  const me = useMe();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const client = useQueryClient();
  const projects = useQuery(overviewQuery);
  useFresh("overview");
  const set = (part: ProjectsSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const list = projects.data ?? [];
  const create = (
    <Guarded leftSection={<Plus size={14} />} why={whyNot(t, me.admin ? "admin" : "none", "admin")} onClick={() => set({ new: "1" })}>
      {t("account.projects.new")}
    </Guarded>
  );
  return (
    <div className="page">
      <div className="title-row">
        <h1>{t("projects.title")}</h1>
        {list.length > 0 && <span className="push">{create}</span>}
      </div>
      {projects.isError ? (
        <ErrorView error={projects.error} retry={() => void projects.refetch()} />
      ) : projects.isPending ? (
        <SkeletonRows />
      ) : list.length === 0 ? (
        <div className="empty">
          <h2>{t("account.projects.emptyTitle")}</h2>
          <p>{me.admin ? t("account.projects.emptyAdmin") : t("account.projects.emptyOther")}</p>
          <div>{create}</div>
        </div>
      ) : (
        <Table list={list} set={set} />
      )}
      <NewProject opened={search.new === "1" && me.admin} onClose={() => set({ new: undefined }, true)} />
      <EditProject project={list.find((p) => p.name === search.edit)} onClose={() => set({ edit: undefined }, true)} />
      <TypedDelete
        name={list.find((p) => p.name === search.delete)?.name}
        about={t("account.projects.deleteAsk")}
        remove={deleteProject}
        onClose={() => set({ delete: undefined }, true)}
        onDone={() => {
          void client.invalidateQueries({ queryKey: ["overview"] });
          void client.invalidateQueries({ queryKey: ["projects"] });
          set({ delete: undefined }, true);
        }}
      />
    </div>
  );
}

function Table({ list, set }: { list: ProjectOverview[]; set: (part: ProjectsSearch) => void }) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("projects.title")}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("projects.name")}</th>
            <th>{t("account.projects.day")}</th>
            <th className="num">{t("account.projects.workflows")}</th>
            <th>{t("projects.description")}</th>
            <th>{t("projects.role")}</th>
            <th aria-label={t("common.more")} />
          </tr>
        </thead>
        <tbody>
          {list.map((p) => (
            <tr key={p.id}>
              <td>
                <Link to="/p/$project/workflows" params={{ project: p.name }}>
                  {p.name}
                </Link>
              </td>
              <td>
                <DayBar project={p.name} day={p.day} />
              </td>
              <td className="num">{p.workflows}</td>
              <td className="wide">
                <span className="clip">{p.description}</span>
              </td>
              <td className="faint">
                <RoleWord role={p.role} />
              </td>
              <td className="end">
                <Actions project={p} set={set} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Actions({ project, set }: { project: ProjectOverview; set: (part: ProjectsSearch) => void }) {
  const { t } = useSay();
  const go = useNavigate();
  const { name, role } = project;
  const why = whyNot(t, role, "owner");
  return (
    <RowMenu
      label={t("account.projects.more", { name })}
      actions={[
        { label: t("account.projects.members"), run: () => void go({ to: "/p/$project/members", params: { project: name } }) },
        { label: t("account.projects.edit"), run: () => set({ edit: name }), why },
        { label: t("account.projects.delete"), run: () => set({ delete: name }), why },
      ]}
    />
  );
}
