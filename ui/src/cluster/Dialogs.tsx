import { Button, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import {
  askRebalance,
  drainWorker,
  holdCluster,
  killNode,
  type Pulse,
  pulseQuery,
  releaseCluster,
  runningTasksQuery,
} from "../api/cluster";
import { duration, millis } from "../domain/format";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { Ago, Took } from "../parts/Times";
import type { ClusterSearch } from "../searchCluster";
import { tell } from "./tell";

interface Props {
  pulse: Pulse;
  search: ClusterSearch;
  onClose: () => void;
}

/** ClusterDialogs are what an admin may do; each says first what it touches. */
export function ClusterDialogs({ pulse, search, onClose }: Props) {
  const { t } = useSay();
  const { drain, kill } = search;
  return (
    <>
      <Modal opened={search.do === "rebalance"} onClose={onClose} title={t("cluster.rebalanceTitle")}>
        <Rebalance pulse={pulse} onClose={onClose} />
      </Modal>
      <Modal opened={search.do === "hold"} onClose={onClose} title={t("cluster.holdTitle")}>
        <Hold running={pulse.running} onClose={onClose} />
      </Modal>
      <Modal opened={search.do === "release"} onClose={onClose} title={t("cluster.releaseTitle")}>
        <Release hold={pulse.hold} onClose={onClose} />
      </Modal>
      <Modal opened={drain !== undefined} onClose={onClose} title={t("cluster.drainTitle", { name: drain ?? "" })}>
        {drain !== undefined && <Drain name={drain} onClose={onClose} />}
      </Modal>
      <Modal opened={kill !== undefined && pulse.demo !== undefined} onClose={onClose} title={t("cluster.killTitle", { name: kill ?? "" })}>
        {kill !== undefined && <Kill name={kill} pulse={pulse} onClose={onClose} />}
      </Modal>
    </>
  );
}

function End({ pending, onClose, children }: { pending: boolean; onClose: () => void; children: string }) {
  const { t } = useSay();
  return (
    <div className="dialog-end">
      <Button variant="default" onClick={onClose}>
        {t("common.cancel")}
      </Button>
      <Button type="submit" loading={pending}>
        {children}
      </Button>
    </div>
  );
}

/** useDone is for what has been done; what is told may depend on the answer. */
function useDone<T>(message: string | ((answer: T) => string), onClose: () => void): (answer: T) => void {
  const client = useQueryClient();
  return (answer) => {
    tell(typeof message === "string" ? message : message(answer));
    void client.invalidateQueries({ queryKey: pulseQuery.queryKey });
    onClose();
  };
}

function Rebalance({ pulse, onClose }: { pulse: Pulse; onClose: () => void }) {
  const { t } = useSay();
  // What is asked is about the layout that the person looked at when the dialog opened.
  const [epoch] = useState(pulse.slots.epoch);
  const ask = useMutation({ mutationFn: () => askRebalance(epoch), onSuccess: useDone(t("cluster.rebalanceAsked"), onClose) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    ask.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("cluster.rebalanceAbout")}</p>
      <p>{t("cluster.rebalanceWho")}</p>
      <ul className="touched">
        {pulse.masters
          .filter((m) => m.state !== "gone")
          .map((m) => (
            <li key={m.name}>
              <span>{m.name}</span>
              <span className="faint num">
                {m.state === "member" ? t("cluster.slots", { count: m.slots }) : t(`cluster.state.${m.state}`)}
              </span>
            </li>
          ))}
      </ul>
      <FormError error={ask.error} />
      <End pending={ask.isPending} onClose={onClose}>
        {t("cluster.rebalance")}
      </End>
    </form>
  );
}

function Hold({ running, onClose }: { running: number; onClose: () => void }) {
  const { t } = useSay();
  const [reason, setReason] = useState("");
  const hold = useMutation({ mutationFn: () => holdCluster(reason.trim()), onSuccess: useDone(t("cluster.holdDone"), onClose) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    hold.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("cluster.holdAbout")}</p>
      <p>{running === 0 ? t("cluster.holdNone") : t("cluster.holdRunning", { count: running })}</p>
      <TextInput
        label={t("cluster.reason")}
        description={t("cluster.holdHint")}
        maxLength={1000}
        autoComplete="off"
        value={reason}
        onChange={(e) => setReason(e.currentTarget.value)}
        required
        data-autofocus
      />
      <FormError error={hold.error} />
      <End pending={hold.isPending} onClose={onClose}>
        {t("cluster.holdNow")}
      </End>
    </form>
  );
}

function Release({ hold, onClose }: { hold: Pulse["hold"]; onClose: () => void }) {
  const { t } = useSay();
  const release = useMutation({
    mutationFn: releaseCluster,
    onSuccess: useDone((r) => {
      if (!r.was_held) return t("cluster.releaseNone");
      return t("cluster.releaseDone", { time: duration(r.seconds * 1000), moments: r.moments });
    }, onClose),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    release.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      {hold.held && (
        <p>
          {t("cluster.held", { by: hold.by ?? "" })} {hold.reason}{" "}
          <span className="faint">
            (<Ago at={hold.since} />)
          </span>
        </p>
      )}
      <p>{t("cluster.releaseAbout")}</p>
      <FormError error={release.error} />
      <End pending={release.isPending} onClose={onClose}>
        {t("cluster.release")}
      </End>
    </form>
  );
}

function Drain({ name, onClose }: { name: string; onClose: () => void }) {
  const { t } = useSay();
  const [reason, setReason] = useState("");
  const [back, setBack] = useState("");
  const tasks = (useQuery(runningTasksQuery).data?.items ?? []).filter((x) => x.worker === name);
  const drain = useMutation({
    mutationFn: () => drainWorker(name, reason, /^\d+$/.test(back) ? Number(back) : undefined),
    onSuccess: useDone(t("cluster.drained", { name }), onClose),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    drain.mutate();
  };
  const [now] = useState(Date.now);
  const longest = Math.max(0, ...tasks.map((x) => now - (millis(x.started_at ?? x.dispatched_at) ?? now)));
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("cluster.drainAbout")}</p>
      {tasks.length === 0 ? (
        <p>{t("cluster.drainNone")}</p>
      ) : (
        <>
          <p>{t("cluster.drainTasks", { count: tasks.length, time: duration(longest) })}</p>
          <ul className="touched">
            {tasks.map((x) => (
              <li key={`${x.instance_id} ${x.task}`}>
                <span>
                  {x.task}{" "}
                  <span className="faint">
                    {x.workflow} {x.instance_id}
                  </span>
                </span>
                <span className="faint">
                  <Took from={x.started_at ?? x.dispatched_at} to={undefined} live />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <TextInput
        label={t("cluster.reason")}
        description={t("cluster.reasonHint")}
        maxLength={256}
        autoComplete="off"
        value={reason}
        onChange={(e) => setReason(e.currentTarget.value)}
        data-autofocus
      />
      <TextInput
        label={t("cluster.giveBack")}
        description={t("cluster.giveBackHint")}
        inputMode="numeric"
        value={back}
        onChange={(e) => setBack(e.currentTarget.value.replaceAll(/\D/g, ""))}
      />
      <FormError error={drain.error} />
      <End pending={drain.isPending} onClose={onClose}>
        {t("cluster.drain")}
      </End>
    </form>
  );
}

function Kill({ name, pulse, onClose }: { name: string; pulse: Pulse; onClose: () => void }) {
  const { t } = useSay();
  const kill = useMutation({ mutationFn: () => killNode(name), onSuccess: useDone(t("cluster.killed", { name }), onClose) });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    kill.mutate();
  };
  const master = pulse.masters.find((m) => m.name === name);
  const worker = pulse.workers.find((w) => w.name === name);
  return (
    <form className="stack" onSubmit={submit}>
      <p>
        {master
          ? t("cluster.killMaster", { slots: master.slots, instances: master.instances ?? 0 })
          : t("cluster.killWorker", { tasks: worker?.running ?? 0 })}
      </p>
      <FormError error={kill.error} />
      <End pending={kill.isPending} onClose={onClose}>
        {t("cluster.kill")}
      </End>
    </form>
  );
}
