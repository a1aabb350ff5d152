import { Button, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Hand, Pause, Play } from "lucide-react";
import { Suspense, useState } from "react";
import { type Pulse, pulseQuery } from "../api/cluster";
import { ConfigTab } from "../cluster/ConfigTab";
import { ClusterDialogs } from "../cluster/Dialogs";
import { FailoversTab } from "../cluster/FailoversTab";
import { seconds } from "../cluster/Heard";
import { QueuesTab } from "../cluster/QueuesTab";
import { SlotsTab } from "../cluster/SlotsTab";
import { SupervisorTab } from "../cluster/SupervisorTab";
import { WorkersTab } from "../cluster/WorkersTab";
import { type Samples, sampled } from "../domain/cluster/nodes";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { useLivePulse } from "../live/pulse";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { piece } from "../parts/piece";
import { Ago } from "../parts/Times";
import { useStay } from "../parts/useStay";
import { type ClusterSearch, clusterTabs } from "../searchCluster";
import { useMe, whyNot } from "../shell/me";
import "../account/account.css";
import "../cluster/cluster.css";

const route = getRouteApi("/cluster/$tab");
const TimersTab = piece(() => import("../cluster/TimersTab").then((m) => m.TimersTab));

/** ClusterPage is who is there, who has what, what waits and what went wrong, once a second. */
export function ClusterPage() {
  const { t } = useSay();
  const params = route.useParams();
  const tab = clusterTabs.find((x) => x === params.tab) ?? "slots";
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const set = (part: ClusterSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const why = whyNot(t, useMe().admin ? "admin" : "none", "admin");
  // A view that stands still is for looking at it now: it is not kept in the address.
  const [paused, pause] = useState(false);
  useLivePulse(paused);
  const pulse = useQuery({ ...pulseQuery, enabled: !paused });
  const p = pulse.data;
  const loads = useLoads(p);
  return (
    <div className="page cluster">
      <div className="title-row">
        <h1>{t("cluster.title")}</h1>
        {p && <Head pulse={p} readAt={pulse.dataUpdatedAt} />}
        {p && (
          <Button
            variant="default"
            leftSection={paused ? <Play size={14} /> : <Pause size={14} />}
            aria-pressed={paused}
            title={t("cluster.pauseAbout")}
            onClick={() => pause(!paused)}
          >
            {t("cluster.pause")}
          </Button>
        )}
        {p && !p.hold.held && (
          <Guarded variant="default" leftSection={<Hand size={14} />} why={why} onClick={() => set({ do: "hold" })}>
            {t("cluster.hold")}
          </Guarded>
        )}
      </div>
      {p?.hold.held && (
        <div className="warning held">
          <span role="status">
            {t("cluster.held", { by: p.hold.by ?? "" })} {p.hold.reason}
          </span>
          <span className="faint">
            <Ago at={p.hold.since} />
          </span>
          <Guarded variant="default" why={why} onClick={() => set({ do: "release" })}>
            {t("cluster.release")}
          </Guarded>
        </div>
      )}
      {p?.demo && <p className="faint">{t("cluster.demoAbout")}</p>}
      <Tabs
        value={tab}
        onChange={(v) => void go({ to: "/cluster/$tab", params: { tab: clusterTabs.find((x) => x === v) ?? "slots" }, search: {} })}
        keepMounted={false}
        className="tabs"
      >
        <Tabs.List aria-label={t("cluster.title")}>
          {clusterTabs.map((x) => (
            <Tabs.Tab key={x} value={x}>
              {t(`cluster.tab.${x}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {clusterTabs.map((x) => (
          <Tabs.Panel key={x} value={x} className="panel">
            {pulse.isError && !p ? (
              <ErrorView error={pulse.error} retry={() => void pulse.refetch()} />
            ) : !p ? (
              <SkeletonRows rows={8} />
            ) : x === "slots" ? (
              <SlotsTab pulse={p} search={search} set={set} why={why} />
            ) : x === "workers" ? (
              <WorkersTab pulse={p} loads={loads} search={search} set={set} why={why} />
            ) : x === "queues" ? (
              <QueuesTab pulse={p} search={search} set={set} />
            ) : x === "timers" ? (
              <Suspense fallback={<SkeletonRows rows={8} />}>
                <TimersTab pulse={p} search={search} set={set} />
              </Suspense>
            ) : x === "failovers" ? (
              <FailoversTab search={search} set={set} />
            ) : x === "supervisor" ? (
              <SupervisorTab pulse={p} search={search} set={set} />
            ) : (
              <ConfigTab pulse={p} why={why} />
            )}
          </Tabs.Panel>
        ))}
      </Tabs>
      {p && why === undefined && (
        <ClusterDialogs
          pulse={p}
          search={search}
          onClose={() => {
            pause(false); // what comes of it is wanted to be seen
            set({ do: undefined, drain: undefined, kill: undefined }, true);
          }}
        />
      )}
    </div>
  );
}

/** useLoads keeps what workers said of their load since the page was opened. */
function useLoads(pulse: Pulse | undefined): Samples {
  const [kept, keep] = useState<{ at: string; loads: Samples }>({ at: "", loads: new Map() });
  if (pulse && pulse.at !== kept.at) keep({ at: pulse.at, loads: sampled(kept.loads, pulse.workers) });
  return kept.loads;
}

/** Head is the cluster in a line, with the age of what the page shows. */
function Head({ pulse, readAt }: { pulse: Pulse; readAt: number }) {
  const { t } = useSay();
  const now = useNow();
  const masters = pulse.masters.filter((m) => m.state !== "gone");
  const silent = [...masters, ...pulse.workers].filter((n) => n.silent_since !== undefined).length;
  const { commands, commits, fires } = pulse.refused;
  const commandsQueue = pulse.queues[0];
  const single = masters.length === 1 && pulse.workers.length === 1;
  return (
    <>
      <span className="cluster-head num">
        {pulse.slots.epoch === 0 ? (
          <span className="warning">{t("cluster.noEpoch")}</span>
        ) : (
          <span>
            {t("cluster.epoch", { epoch: pulse.slots.epoch, when: "" }).trim()} <Ago at={pulse.slots.committed_at} />
          </span>
        )}
        <span>{t("cluster.masters", { count: masters.length })}</span>
        <span>
          {t("cluster.workers", { count: pulse.workers.length })}
          {silent > 0 && <span className="text-retry"> ({t("cluster.silent", { n: silent })})</span>}
        </span>
        <span>{t("cluster.running", { count: pulse.running })}</span>
        <span>
          {t("cluster.commands", { count: commandsQueue?.waiting ?? 0 })}
          {commandsQueue?.oldest && (
            <span className="faint">
              {" "}
              (<Ago at={commandsQueue.oldest} />)
            </span>
          )}
        </span>
        <span title={t("cluster.refusedAbout", { commands, commits, fires })}>
          {t("cluster.refused", { count: commands + commits + fires })}
        </span>
        <span className="faint push">{t("cluster.age", { age: seconds(Math.max(0, now - readAt)) })}</span>
      </span>
      {single && (
        <p className="faint alone">
          {t("cluster.alone")} {t("cluster.aloneHow")} <code>porpoise token join worker</code>, <code>docs/operations.md</code>
        </p>
      )}
    </>
  );
}
