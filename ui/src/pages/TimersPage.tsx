import { Button, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Search } from "lucide-react";
import { deleteTimer, switchTimer, type Timer, timerQuery, timerStatsQuery, timersQuery } from "../api/timers";
import { duration } from "../domain/format";
import { inOrder } from "../domain/schedule/days";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { ProjectNav } from "../parts/ProjectNav";
import { RowMenu } from "../parts/RowMenu";
import { StateWord } from "../parts/StateIcon";
import { TypedDelete } from "../parts/TypedDelete";
import { useStay } from "../parts/useStay";
import type { TimerAct, TimersSearch } from "../searchSchedule";
import { useWhyNot } from "../shell/me";
import { Standing } from "../timer/Standing";
import { TimerDrawer } from "../timer/TimerDrawer";
import { TimerForm } from "../timer/TimerForm";
import "../account/account.css";
import "../schedule/schedule.css";
import "../timer/timer.css";

const route = getRouteApi("/p/$project/timers");
const week = 7;

/** TimersPage lists what a project's timers call, and how that goes. */
export function TimersPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const set = (part: TimersSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const [name] = useDebouncedValue(search.q ?? "", 300);
  const list = useInfiniteQuery(timersQuery(project, name));
  const rows = list.data?.pages.flatMap((p) => p.data) ?? [];
  const edits = useWhyNot(project)("editor");
  const create = (
    <Guarded leftSection={<Plus size={14} />} why={edits} onClick={() => set({ new: "1" })}>
      {t("timers.new")}
    </Guarded>
  );
  return (
    <div className="page">
      <ProjectNav project={project} />
      <div className="title-row">
        <h1>{t("timers.titleOf", { project })}</h1>
        <Link to="/cluster/$tab" params={{ tab: "timers" }} className="push">
          {t("timerHeat.link")}
        </Link>
      </div>
      <Sums project={project} />
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 && name === "" ? (
        <div className="empty">
          <h2>{t("timers.emptyTitle")}</h2>
          <p>{t("timers.empty")}</p>
          <div>{create}</div>
        </div>
      ) : (
        <>
          <div className="list-tools">
            <TextInput
              data-filter
              aria-label={t("timers.filter")}
              placeholder={t("timers.filter")}
              leftSection={<Search size={13} />}
              value={search.q ?? ""}
              onChange={(e) => set({ q: e.currentTarget.value || undefined }, true)}
            />
            <span className="push">{create}</span>
          </div>
          {rows.length === 0 ? (
            <p className="empty">{t("timers.noMatch")}</p>
          ) : (
            <Table project={project} rows={rows} onOpen={(id) => set({ id })} onAct={(act, id) => set({ do: act, id })} />
          )}
          {list.hasNextPage && (
            <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
              {t("timers.more")}
            </Button>
          )}
        </>
      )}
      <TimerDrawer app={project} id={search.do === undefined ? search.id : undefined} onClose={() => set({ id: undefined }, true)} />
      {edits === undefined && <Acts project={project} search={search} set={set} />}
    </div>
  );
}

interface ActsProps {
  project: string;
  search: TimersSearch;
  set: (part: TimersSearch, replace?: boolean) => void;
}

/** Acts are the form of a new timer or of one that is replaced, and the dialog that deletes one. */
function Acts({ project, search, set }: ActsProps) {
  const { t } = useSay();
  const client = useQueryClient();
  const one = useQuery({ ...timerQuery(project, search.id ?? ""), enabled: search.do !== undefined && search.id !== undefined }).data;
  const close = () => set({ do: undefined, id: undefined, new: undefined }, true);
  return (
    <>
      <TimerForm
        app={project}
        opened={search.new === "1" || (search.do === "edit" && one !== undefined)}
        timer={search.new === "1" ? undefined : one}
        onClose={close}
        onSaved={close}
      />
      <TypedDelete
        name={search.do === "delete" ? one?.name : undefined}
        about={t("timers.deleteAsk")}
        remove={async () => one && deleteTimer(one)}
        onClose={close}
        onDone={(name) => {
          notifications.show({ message: t("timers.deleted", { name }), autoClose: 3000, withCloseButton: false });
          close();
          void client.invalidateQueries({ queryKey: ["timers", project, "list"] });
          void client.invalidateQueries({ queryKey: ["timers", project, "stats"] });
        }}
      />
    </>
  );
}

/** Sums is how a week of all timers went. */
function Sums({ project }: { project: string }) {
  const { t } = useSay();
  const stats = useQuery(timerStatsQuery(project, week)).data;
  if (!stats || (stats.enabled === 0 && Object.keys(stats.tasks).length === 0)) return null;
  return (
    <p className="timer-sums num">
      <span>{t("timers.enabled", { count: stats.enabled })}</span>
      {stats.failing > 0 && <span className="text-failed">{t("timers.failingAll", { count: stats.failing })}</span>}
      <span className="faint">{t("timers.week")}:</span>
      {inOrder(stats.tasks).map(([state, n]) => (
        <span key={state}>
          {n} <StateWord state={state} size={14} />
        </span>
      ))}
      <span className="faint">{t("timers.tries", { count: stats.tries })}</span>
      <span className="faint">{t("timers.meanLate", { late: duration(stats.meanLateMS) })}</span>
    </p>
  );
}

interface TableProps {
  project: string;
  rows: Timer[];
  onOpen: (id: string) => void;
  onAct: (act: TimerAct, id: string) => void;
}

function Table({ project, rows, onOpen, onAct }: TableProps) {
  const { t } = useSay();
  const client = useQueryClient();
  const whyNot = useWhyNot(project);
  const [why, edits] = [whyNot("operator"), whyNot("editor")];
  const turn = useMutation({
    mutationFn: (timer: Timer) => switchTimer(timer, !timer.enabled),
    onSuccess: () => client.invalidateQueries({ queryKey: ["timers", project] }),
  });
  return (
    <>
      {turn.isError && <ErrorView error={turn.error} />}
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("timers.table")}>
        <table className="plain timer-table">
          <thead>
            <tr>
              <th>{t("timers.name")}</th>
              <th>{t("timers.cron")}</th>
              <th>{t("timers.call")}</th>
              <th>{t("timers.standing")}</th>
              <th aria-label={t("common.more")} />
            </tr>
          </thead>
          <tbody>
            {rows.map((x) => (
              <tr key={x.id} data-timer={x.name}>
                <td>
                  <button type="button" className="link" onClick={() => onOpen(String(x.id))}>
                    {x.name}
                  </button>
                </td>
                <td>
                  <code>{x.cron}</code> <span className="faint">{x.timezone ?? "UTC"}</span>
                </td>
                <td className="timer-url mono" title={x.notifyHTTPParam.url}>
                  {x.notifyHTTPParam.method} {x.notifyHTTPParam.url}
                </td>
                <td>
                  <Standing timer={x} />
                </td>
                <td className="end">
                  <RowMenu
                    label={t("timers.actions", { name: x.name })}
                    actions={[
                      { label: x.enabled ? t("timers.disable") : t("timers.enable"), run: () => turn.mutate(x), why },
                      { label: t("timers.edit"), run: () => onAct("edit", String(x.id)), why: edits },
                      { label: t("timers.delete"), run: () => onAct("delete", String(x.id)), why: edits },
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
