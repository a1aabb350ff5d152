import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus, TriangleAlert } from "lucide-react";
import { deleteListener, type Listener, listenersQuery, putListener, testListener } from "../api/listeners";
import { duration } from "../domain/format";
import { tellsFailures } from "../domain/listen/filter";
import { type Role, roleIn, may as roleMay } from "../domain/rights";
import { useSay } from "../i18n";
import { Deliveries } from "../listener/Deliveries";
import { Hears } from "../listener/Hears";
import { ListenerForm } from "../listener/ListenerForm";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { ProjectNav } from "../parts/ProjectNav";
import { RowMenu } from "../parts/RowMenu";
import { TypedDelete } from "../parts/TypedDelete";
import { told } from "../parts/told";
import { useStay } from "../parts/useStay";
import type { ListenersSearch } from "../searchPages";
import { useMe, useWhyNot } from "../shell/me";
import "../account/account.css";
import "../listener/listener.css";
import "../timer/timer.css";

const route = getRouteApi("/p/$project/listeners");
const reads: Role = "operator"; // an address may hold what only those may know who operate

/** ListenersPage is who is told of a project's events, and how that goes. */
export function ListenersPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const client = useQueryClient();
  const allowed = roleMay(roleIn(useMe(), project), reads);
  const list = useQuery({ ...listenersQuery(project), enabled: allowed });
  const why = useWhyNot(project)("editor");
  const set = (part: ListenersSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const all = list.data ?? [];
  const create = (
    <Guarded leftSection={<Plus size={14} />} why={why} onClick={() => set({ new: "1" })}>
      {t("listeners.new")}
    </Guarded>
  );
  return (
    <div className="page">
      <ProjectNav project={project} />
      <div className="title-row">
        <h1>{t("listeners.titleOf", { project })}</h1>
        {all.length > 0 && <span className="push">{create}</span>}
      </div>
      {!allowed ? (
        <p className="empty">{t(`account.why.${reads}`)}</p>
      ) : list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : (
        <>
          {!all.some((l) => tellsFailures(l.filter, l.enabled)) && (
            <div className="nobody" role="status">
              <TriangleAlert size={18} aria-hidden="true" className="text-retry" />
              <div>
                <h2>{t("listeners.emptyTitle")}</h2>
                <p>{t("listeners.empty", { project })}</p>
                {all.length === 0 && create}
              </div>
            </div>
          )}
          {all.length > 0 && <Table project={project} rows={all} set={set} />}
        </>
      )}
      <ListenerForm project={project} opened={search.new === "1" && why === undefined} onClose={() => set({ new: undefined }, true)} />
      <ListenerForm
        key={search.edit}
        project={project}
        listener={all.find((l) => l.name === search.edit)}
        opened={all.some((l) => l.name === search.edit) && why === undefined}
        onClose={() => set({ edit: undefined }, true)}
      />
      <Deliveries
        project={project}
        listener={all.find((l) => l.name === search.open)?.name}
        state={search.st}
        onState={(st) => set({ st }, true)}
        onClose={() => set({ open: undefined, st: undefined }, true)}
      />
      <TypedDelete
        name={why === undefined ? all.find((l) => l.name === search.delete)?.name : undefined}
        about={t("listeners.deleteAsk")}
        remove={(name) => deleteListener(project, name)}
        onClose={() => set({ delete: undefined }, true)}
        onDone={(name) => {
          told(t("listeners.deleted", { name }));
          void client.invalidateQueries({ queryKey: ["listeners"] });
          set({ delete: undefined }, true);
        }}
      />
    </div>
  );
}

function Table({ project, rows, set }: { project: string; rows: Listener[]; set: (part: ListenersSearch) => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const why = useWhyNot(project);
  const [edits, runs] = [why("editor"), why("operator")];
  const turn = useMutation({
    mutationFn: (l: Listener) =>
      putListener(project, l.name, { url: l.url, description: l.description, filter: l.filter, enabled: !l.enabled }),
    onSuccess: () => client.invalidateQueries({ queryKey: ["listeners"] }),
  });
  const test = useMutation({ mutationFn: (l: Listener) => testListener(project, l.name) });
  const tested = test.variables?.name ?? "";
  return (
    <>
      {turn.isError && <ErrorView error={turn.error} />}
      {test.isError && <ErrorView error={test.error} />}
      {test.data && (
        <p className={test.data.delivered ? "text-success" : "text-failed"} role="status">
          {test.data.delivered
            ? t("listeners.testOk", { name: tested, status: test.data.status, took: duration(test.data.took_ms) })
            : t("listeners.testBad", { name: tested, error: test.data.error })}
        </p>
      )}
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("listeners.table")}>
        <table className="plain listener-table">
          <thead>
            <tr>
              <th>{t("listeners.name")}</th>
              <th>{t("listeners.url")}</th>
              <th>{t("listeners.hears")}</th>
              <th>{t("listeners.standing")}</th>
              <th aria-label={t("common.more")} />
            </tr>
          </thead>
          <tbody>
            {rows.map((l) => (
              <tr key={l.name} data-listener={l.name}>
                <td>
                  <button type="button" className="link" onClick={() => set({ open: l.name })} title={l.description || undefined}>
                    {l.name}
                  </button>
                </td>
                <td className="timer-url mono" title={l.url}>
                  {l.url}
                </td>
                <td className="hears">
                  <Hears filter={l.filter} />
                </td>
                <td>
                  <span className="standings">
                    <span className={l.enabled ? undefined : "text-paused"}>{t(l.enabled ? "listeners.on" : "listeners.off")}</span>
                    {l.signed && <span className="tag">{t("listeners.signed")}</span>}
                    {l.dead > 0 && (
                      <button type="button" className="link text-failed" onClick={() => set({ open: l.name, st: "dead" })}>
                        {t("listeners.dead", { count: l.dead })}
                      </button>
                    )}
                  </span>
                </td>
                <td className="end">
                  <RowMenu
                    label={t("listeners.actions", { name: l.name })}
                    actions={[
                      { label: t("listeners.test"), run: () => test.mutate(l), why: runs },
                      { label: t("listeners.deliveries"), run: () => set({ open: l.name }) },
                      { label: t("listeners.edit"), run: () => set({ edit: l.name }), why: edits },
                      { label: t(l.enabled ? "listeners.disable" : "listeners.enable"), run: () => turn.mutate(l), why: edits },
                      { label: t("listeners.delete"), run: () => set({ delete: l.name }), why: edits },
                    ]}
                  />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
