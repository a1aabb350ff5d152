import { TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { FileInput, Plus, Search } from "lucide-react";
import { Suspense } from "react";
import { exportWorkflow } from "../account/definition";
import { matching } from "../account/matching";
import { useFresh } from "../account/useFresh";
import { CopyWorkflow, NewWorkflow } from "../account/WorkflowDialogs";
import { WorkflowTable } from "../account/WorkflowTable";
import { deleteWorkflow, type WorkflowOverview, workflowOverviewQuery } from "../api/account";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { ProjectNav } from "../parts/ProjectNav";
import { piece } from "../parts/piece";
import { TypedDelete } from "../parts/TypedDelete";
import type { WorkflowsSearch } from "../searchAccount";
import { useWhyNot } from "../shell/me";
import "../account/account.css";
import { useOnce } from "../parts/useOnce";
import { useStay } from "../parts/useStay";

const ImportDialog = piece(() => import("../account/ImportDialog").then((m) => m.ImportDialog));
const route = getRouteApi("/p/$project/workflows");

/** WorkflowsPage lists a project's workflows with what each did last. */
export function WorkflowsPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const workflows = useQuery(workflowOverviewQuery(project));
  const why = useWhyNot(project)("editor");
  useFresh("overview");
  const set = (part: WorkflowsSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const list = workflows.data ?? [];
  const importing = useOnce(search.import !== undefined);
  const create = (
    <span className="acts">
      <Guarded variant="default" leftSection={<FileInput size={14} />} why={why} onClick={() => set({ import: "1" })}>
        {t("account.import.do")}
      </Guarded>
      <Guarded leftSection={<Plus size={14} />} why={why} onClick={() => set({ new: "1" })}>
        {t("account.workflows.new")}
      </Guarded>
    </span>
  );
  return (
    <div className="page fill">
      <ProjectNav project={project} />
      <div className="title-row">
        <h1>{t("workflows.title", { project })}</h1>
        <span className="push">{create}</span>
      </div>
      {workflows.isError ? (
        <ErrorView error={workflows.error} retry={() => void workflows.refetch()} />
      ) : workflows.isPending ? (
        <SkeletonRows />
      ) : list.length === 0 ? (
        <div className="empty">
          <h2>{t("account.workflows.emptyTitle")}</h2>
          <p>{t("account.workflows.empty", { project })}</p>
          <div>{create}</div>
        </div>
      ) : (
        <List list={list} search={search} set={set} />
      )}
      <NewWorkflow project={project} opened={search.new === "1" && why === undefined} onClose={() => set({ new: undefined }, true)} />
      <Suspense>
        {importing && (
          <ImportDialog
            project={project}
            opened={search.import === "1" && why === undefined}
            onClose={() => set({ import: undefined }, true)}
          />
        )}
      </Suspense>
      <CopyWorkflow workflow={list.find((w) => w.name === search.copy)} onClose={() => set({ copy: undefined }, true)} />
      <Delete project={project} workflow={list.find((w) => w.name === search.delete)} onClose={() => set({ delete: undefined }, true)} />
    </div>
  );
}

interface ListProps {
  list: WorkflowOverview[];
  search: WorkflowsSearch;
  set: (part: WorkflowsSearch, replace?: boolean) => void;
}

function List({ list, search, set }: ListProps) {
  const { t } = useSay();
  const { project } = route.useParams();
  const shown = matching(list, search.q ?? "");
  const save = useMutation({ mutationFn: (workflow: string) => exportWorkflow({ project, workflow }) });
  return (
    <>
      <div className="list-tools">
        <TextInput
          data-filter
          aria-label={t("account.workflows.filter")}
          placeholder={t("account.workflows.filter")}
          leftSection={<Search size={13} />}
          value={search.q ?? ""}
          onChange={(e) => set({ q: e.currentTarget.value || undefined }, true)}
        />
        <span className="faint" role="status">
          {t("account.workflows.count", { count: shown.length })}
        </span>
      </div>
      {save.isError && <ErrorView error={save.error} />}
      {shown.length === 0 ? (
        <div className="empty">
          <p>{t("account.workflows.noMatch", { text: search.q ?? "" })}</p>
          <button type="button" className="link" onClick={() => set({ q: undefined }, true)}>
            {t("account.workflows.clear")}
          </button>
        </div>
      ) : (
        <WorkflowTable
          list={shown}
          onCopy={(name) => set({ copy: name })}
          onExport={(name) => save.mutate(name)}
          onDelete={(name) => set({ delete: name })}
        />
      )}
    </>
  );
}

function Delete({ project, workflow, onClose }: { project: string; workflow: WorkflowOverview | undefined; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  return (
    <TypedDelete
      name={workflow?.name}
      about={t("account.workflows.deleteAsk")}
      remove={(name) => deleteWorkflow(project, name)}
      onClose={onClose}
      onDone={(name) => {
        notifications.show({ message: t("account.workflows.deleted", { name }), autoClose: 3000, withCloseButton: false });
        void client.invalidateQueries({ queryKey: ["overview"] });
        void client.invalidateQueries({ queryKey: ["workflows"] });
        onClose();
      }}
    />
  );
}
