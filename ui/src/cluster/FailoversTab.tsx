import { Button, SegmentedControl } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type Failover, failoverInstancesQuery, failoversQuery } from "../api/cluster";
import { clockTime, duration, millis } from "../domain/format";
import { type Sentence, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { Ago, Moment } from "../parts/Times";
import type { ClusterSearch } from "../searchCluster";
import { useSettings } from "../settings";
import { causeWords } from "./causeWords";

interface Props {
  search: ClusterSearch;
  set: (part: ClusterSearch, replace?: boolean) => void;
}

/** FailoversTab is who died, who took over, how long that took, and what became of the tasks. */
export function FailoversTab({ search, set }: Props) {
  const { t } = useSay();
  const list = useInfiniteQuery(failoversQuery(search.kind));
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <section>
      <div className="part-head">
        <h2>{t("cluster.failoversTitle")}</h2>
        <SegmentedControl
          aria-label={t("cluster.kind")}
          value={search.kind ?? ""}
          onChange={(v) => set({ kind: v === "master" || v === "worker" ? v : undefined })}
          data={[
            { value: "", label: t("cluster.kindAll") },
            { value: "master", label: t("cluster.kindMaster") },
            { value: "worker", label: t("cluster.kindWorker") },
          ]}
        />
      </div>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <p className="empty">{t("cluster.noFailovers")}</p>
      ) : (
        <Table rows={rows} />
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("cluster.more")}
        </Button>
      )}
    </section>
  );
}

/** columns is how many there are: what happened in a failover takes a row of its own below it. */
const columns = 10;

function Table({ rows }: { rows: Failover[] }) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.failoversTitle")}>
      <table className="plain failovers">
        <thead>
          <tr>
            <th>{t("cluster.when")}</th>
            <th>{t("cluster.who")}</th>
            <th>{t("cluster.failCause")}</th>
            <th>{t("cluster.by")}</th>
            <th className="n">{t("cluster.detected")}</th>
            <th className="n">{t("cluster.took")}</th>
            <th className="n">{t("cluster.instances")}</th>
            <th className="n">{t("cluster.adopted")}</th>
            <th className="n">{t("cluster.lost")}</th>
            <th aria-label={t("cluster.events")} />
          </tr>
        </thead>
        <tbody>
          {rows.map((f) => (
            <Row key={f.id} f={f} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** nodeOf is the node of <node>:<incarnation>: the incarnation says nothing to a person. */
function nodeOf(process: string): string {
  return process.split(":")[0] ?? process;
}

function Row({ f }: { f: Failover }) {
  const { t } = useSay();
  const { zone } = useSettings();
  // It was missed, or last heard, when it was detected; somebody acted when its work was taken over or called lost.
  const seen = millis(f.detected_at) ?? 0;
  const done = millis(f.finished_at);
  const acted = millis(f.steps.find((s) => s.name === "taken" || s.name === "lost")?.at);
  const [open, setOpen] = useState(false);
  return (
    <>
      <tr data-failover={f.node}>
        <td>
          <Moment at={f.detected_at} />{" "}
          <span className="faint">
            <Ago at={f.detected_at} />
          </span>
        </td>
        <td>
          <strong>{f.node}</strong> <span className="faint">{t(f.kind === "master" ? "cluster.master1" : "cluster.worker1")}</span>
        </td>
        <td>{causeWords(t, f.cause)}</td>
        <td>{nodeOf(f.by)}</td>
        <td className="n num">{acted === undefined ? "–" : duration(Math.max(0, acted - seen))}</td>
        <td className="n num">
          {done === undefined ? (
            <span className="state-word text-retry">
              <StateIcon state="retry_wait" size={14} /> {t("cluster.open")}
            </span>
          ) : (
            duration(Math.max(0, done - seen))
          )}
        </td>
        <td className="n num">{f.instances}</td>
        <td className="n num">{f.adopted}</td>
        <td className="n num">{f.lost}</td>
        <td className="end">
          <Button variant="subtle" size="compact-xs" aria-expanded={open} onClick={() => setOpen(!open)}>
            {t("cluster.events")}
          </Button>
        </td>
      </tr>
      {open && (
        <tr className="failover-events">
          <td colSpan={columns}>
            <ol>
              {f.steps.map((s) => {
                const at = millis(s.at) ?? 0;
                return (
                  <li key={s.name}>
                    <span className="num">{clockTime(at, zone, true)}</span> {stepWord(t, s.name)}
                    {at > seen && <span className="faint num"> +{duration(at - seen)}</span>}
                  </li>
                );
              })}
            </ol>
            {f.kind === "master" ? <Taken id={f.id} /> : <RanThere f={f} />}
          </td>
        </tr>
      )}
    </>
  );
}

/** Taken lists the instances that were taken over, as they are now; each leads to its events. */
function Taken({ id }: { id: string }) {
  const { t } = useSay();
  const list = useQuery(failoverInstancesQuery(id));
  if (list.isError) return <ErrorView error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <SkeletonRows rows={2} />;
  const { items, hidden, taken } = list.data;
  const rest = taken - items.length - hidden;
  return (
    <>
      {items.length > 0 && (
        <ul className="failover-taken" aria-label={t("cluster.taken")}>
          {items.map((i) => (
            <li key={i.id}>
              <Link to="/p/$project/r/$id" params={{ project: i.project, id: i.id }} search={{ tab: "events" }}>
                {i.workflow} <span className="num">{i.id}</span>
              </Link>{" "}
              <StateWord state={i.state} size={14} />
            </li>
          ))}
        </ul>
      )}
      {hidden > 0 && <p className="faint">{t("cluster.takenHidden", { count: hidden })}</p>}
      {rest > 0 && <p className="faint">{t("cluster.takenMore", { count: rest })}</p>}
    </>
  );
}

/** RanThere leads to what ran on a lost worker around its end. */
function RanThere({ f }: { f: Failover }) {
  const { t } = useSay();
  return (
    <p>
      <Link to="/runs" search={{ worker: f.node, from: new Date(Date.parse(f.detected_at) - day).toISOString(), to: f.finished_at }}>
        {t("cluster.ranHere")}
      </Link>
    </p>
  );
}

const day = 86_400_000;

const steps: Record<string, Sentence> = {
  absent: "cluster.failStep.absent",
  silent: "cluster.failStep.silent",
  taken: "cluster.failStep.taken",
  settled: "cluster.failStep.settled",
  lost: "cluster.failStep.lost",
};

function stepWord(t: (key: Sentence) => string, name: string): string {
  const known = steps[name];
  return known ? t(known) : name;
}
