import { Button, Select } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type Delivery, deliveriesQuery, redeliver } from "../api/listeners";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Drawer } from "../parts/layers";
import { RowMenu } from "../parts/RowMenu";
import { StateIcon } from "../parts/StateIcon";
import { Ago, Due } from "../parts/Times";
import { told } from "../parts/told";
import type { ListenersSearch } from "../searchPages";
import { useWhyNot } from "../shell/me";
import "@mantine/core/styles/Drawer.css";

const states = ["dead", "due", "idle"] as const;
const alerts = {
  schedule_broken: "listeners.scheduleBroken",
  schedule_missed: "listeners.scheduleMissed",
  timer_failing: "listeners.timerFailing",
  timer_broken: "listeners.timerBroken",
} as const;
const looks = { dead: "failed", due: "retry", idle: "success" } as const;

interface Props {
  project: string;
  listener: string | undefined;
  state: ListenersSearch["st"];
  onState: (state: ListenersSearch["st"]) => void;
  onClose: () => void;
}

/** Deliveries is how far a listener has heard of each instance; what was given up is delivered again from here. */
export function Deliveries({ listener, onClose, ...of }: Props) {
  const { t } = useSay();
  return (
    <Drawer
      opened={listener !== undefined}
      onClose={onClose}
      position="right"
      size="min(860px, 100%)"
      title={t("listeners.deliveriesOf", { name: listener ?? "" })}
      classNames={{ title: "drawer-title" }}
    >
      {listener !== undefined && <Body listener={listener} {...of} />}
    </Drawer>
  );
}

function Body({ project, listener, state, onState }: Omit<Props, "onClose" | "listener"> & { listener: string }) {
  const { t } = useSay();
  const list = useInfiniteQuery(deliveriesQuery(project, listener, state));
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  return (
    <div className="stack">
      <div className="timer-tools">
        <p className="faint">{t("listeners.deliveriesAbout")}</p>
        <Select
          w={160}
          aria-label={t("listeners.state")}
          data={[{ value: "", label: t("listeners.allStates") }, ...states.map((s) => ({ value: s, label: t(`listeners.state.${s}`) }))]}
          value={state ?? ""}
          onChange={(v) => onState(states.find((s) => s === v))}
        />
      </div>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <p className="empty">{t("listeners.noDeliveries")}</p>
      ) : (
        <Table project={project} listener={listener} rows={rows} />
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("timers.more")}
        </Button>
      )}
    </div>
  );
}

function Table({ project, listener, rows }: { project: string; listener: string; rows: Delivery[] }) {
  const { t } = useSay();
  const client = useQueryClient();
  const why = useWhyNot(project)("operator");
  const again = useMutation({
    mutationFn: ({ of, skip }: { of: Delivery; skip: boolean }) => redeliver(project, listener, of, skip),
    onSuccess: async () => {
      told(t("listeners.redelivered"));
      await client.invalidateQueries({ queryKey: ["listeners", project] });
    },
  });
  return (
    <>
      {again.isError && <ErrorView error={again.error} />}
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("listeners.deliveries")}>
        <table className="plain">
          <thead>
            <tr>
              <th>{t("listeners.about")}</th>
              <th>{t("listeners.state")}</th>
              <th>{t("listeners.at")}</th>
              <th className="num">{t("listeners.tries")}</th>
              <th>{t("listeners.answer")}</th>
              <th aria-label={t("common.more")} />
            </tr>
          </thead>
          <tbody>
            {rows.map((d) => (
              <tr key={d.instance_id ?? d.alert_id} data-delivery={d.instance_id ?? d.alert_id}>
                <td>
                  {d.instance_id === undefined ? (
                    <>
                      {d.event && d.event in alerts ? t(alerts[d.event as keyof typeof alerts]) : d.event}{" "}
                      <span className="faint">{d.subject}</span>
                    </>
                  ) : (
                    <Link to="/p/$project/r/$id" params={{ project, id: d.instance_id }}>
                      {d.workflow} <span className="mono faint">{d.instance_id}</span>
                    </Link>
                  )}
                </td>
                <td>
                  <span className={`state-word text-${looks[d.state]}`}>
                    <StateIcon state={looks[d.state]} size={14} /> {t(`listeners.state.${d.state}`)}
                  </span>{" "}
                  {d.state === "due" && d.attempts > 0 && (
                    <span className="faint">
                      <Due at={d.next_at} />
                    </span>
                  )}
                </td>
                <td>
                  <Ago at={d.updated_at} />
                </td>
                <td className="num">{d.attempts}</td>
                <td className="timer-answer" title={d.error}>
                  {d.status > 0 && <span className="num">{d.status} </span>}
                  <span className="faint">{d.error}</span>
                </td>
                <td className="end">
                  {d.state === "dead" && (
                    <RowMenu
                      label={t("listeners.actions", { name: d.instance_id ?? d.subject ?? "" })}
                      actions={[
                        { label: t("listeners.redeliver"), run: () => again.mutate({ of: d, skip: false }), why },
                        { label: t("listeners.skip"), run: () => again.mutate({ of: d, skip: true }), why },
                      ]}
                    />
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
