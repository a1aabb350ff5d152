import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Pulse, type Recovery, recoveriesQuery, supervisorQuery } from "../api/cluster";
import { type Sentence, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import { type ClusterSearch, clusterSearch } from "../searchCluster";

interface Props {
  pulse: Pulse;
  search: ClusterSearch;
  set: (part: ClusterSearch, replace?: boolean) => void;
}

const states = ["asked", "applied", "done", "error"] as const;
const icons = { asked: "retry_wait", applied: "running", done: "success", error: "failed" } as const;

/** SupervisorTab is what got stuck, and what was done about it. */
export function SupervisorTab({ pulse, search, set }: Props) {
  const { t } = useSay();
  const list = useInfiniteQuery(recoveriesQuery(search.state));
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <>
      <Facts pulse={pulse} />
      <section>
        <div className="part-head">
          <h2>{t("cluster.recoveries")}</h2>
          <Select
            aria-label={t("cluster.state")}
            w={150}
            value={search.state ?? ""}
            onChange={(v) => set({ state: clusterSearch({ state: v }).state })}
            data={[{ value: "", label: t("cluster.allStates") }, ...states.map((s) => ({ value: s, label: t(`cluster.recovery.${s}`) }))]}
          />
        </div>
        {list.isError ? (
          <ErrorView error={list.error} retry={() => void list.refetch()} />
        ) : list.isPending ? (
          <SkeletonRows />
        ) : rows.length === 0 ? (
          <p className="empty">{t(search.state === undefined ? "cluster.noRecoveries" : "cluster.noRecoveriesState")}</p>
        ) : (
          <Recoveries rows={rows} />
        )}
        {list.hasNextPage && (
          <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t("cluster.more")}
          </Button>
        )}
      </section>
    </>
  );
}

function Facts({ pulse }: { pulse: Pulse }) {
  const { t } = useSay();
  const supervisor = useQuery(supervisorQuery);
  if (supervisor.isError) return <ErrorView error={supervisor.error} retry={() => void supervisor.refetch()} />;
  if (supervisor.isPending) return <SkeletonRows />;
  const s = supervisor.data;
  const { overdue, asked, given_up } = pulse.stuck;
  return (
    <dl className="account-facts supervisor-facts">
      <dt>{t("cluster.supervisorIs")}</dt>
      <dd>
        {s.master ? s.master.split(":")[0] : t("cluster.noSupervisor")}{" "}
        <span className="faint">
          <Ago at={s.since} />
        </span>
      </dd>
      <dt>{t("cluster.looked")}</dt>
      <dd>
        <Ago at={s.looked_at} />
      </dd>
      <dt>{t("cluster.every")}</dt>
      <dd className="num">{t("cluster.seconds", { n: s.every_seconds })}</dd>
      <dt>{t("cluster.fence")}</dt>
      <dd className="num">{s.fence}</dd>
      <dt>{t("cluster.overdue")}</dt>
      <dd className={overdue > 0 ? "num text-retry" : "num"}>{overdue}</dd>
      <dt>{t("cluster.asked")}</dt>
      <dd className={asked > 0 ? "num text-retry" : "num"}>{asked}</dd>
      <dt>{t("cluster.givenUp")}</dt>
      <dd className={given_up > 0 ? "num text-failed" : "num"}>{given_up}</dd>
    </dl>
  );
}

const results: Record<string, Sentence> = {
  loaded: "cluster.recovered.loaded",
  reloaded: "cluster.recovered.reloaded",
  sent_again: "cluster.recovered.sent_again",
  alive: "cluster.recovered.alive",
  under_way: "cluster.recovered.under_way",
  given_up: "cluster.recovered.given_up",
};

function resultWord(t: (key: Sentence) => string, result = ""): string {
  const known = results[result];
  return known ? t(known) : result;
}

function Recoveries({ rows }: { rows: Recovery[] }) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.recoveries")}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("cluster.instance")}</th>
            <th>{t("cluster.step")}</th>
            <th>{t("cluster.state")}</th>
            <th className="n">{t("cluster.failures")}</th>
            <th>{t("cluster.first")}</th>
            <th>{t("cluster.result")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.id}>
              <td>
                <Link to="/p/$project/r/$id" params={{ project: "-", id: r.instance }}>
                  {r.instance}
                </Link>
              </td>
              <td>{t(`cluster.stuck.${r.step}`)}</td>
              <td>
                <span className="state-word">
                  <StateIcon state={icons[r.state]} size={14} /> {t(`cluster.recovery.${r.state}`)}
                </span>
              </td>
              <td className="n num">{r.failures}</td>
              <td>
                <Ago at={r.first_at} />
              </td>
              <td>{resultWord(t, r.result)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
