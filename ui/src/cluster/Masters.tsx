import { Link } from "@tanstack/react-router";
import type { Pulse, PulseMaster } from "../api/cluster";
import { named, usual } from "../domain/cluster/nodes";
import type { Marks } from "../domain/cluster/slots";
import { useSay } from "../i18n";
import { RowMenu } from "../parts/RowMenu";
import { StateIcon } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import { Heard } from "./Heard";
import { MasterMark } from "./Mark";

interface Props {
  pulse: Pulse;
  marks: Marks;
  lit: string | undefined;
  onLit: (master: string | undefined) => void;
  onKill: (node: string) => void;
  why: string | undefined; // why nothing may be killed
}

/** Masters lists who takes commands, with their share of the slots. */
export function Masters({ pulse, marks, lit, onLit, onKill, why }: Props) {
  const { t } = useSay();
  const version = usual(pulse.masters.map((m) => m.version));
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.mastersTitle")}>
      <table className="plain masters">
        <thead>
          <tr>
            <th>{t("cluster.master")}</th>
            <th className="n">{t("cluster.count")}</th>
            <th className="n">{t("cluster.instances")}</th>
            <th className="n">{t("cluster.commits")}</th>
            <th className="n">{t("cluster.cpu")}</th>
            <th>{t("cluster.heard")}</th>
            <th>{t("cluster.since")}</th>
            {pulse.demo && <th aria-label={t("common.more")} />}
          </tr>
        </thead>
        <tbody>
          {pulse.masters.map((m) => (
            <tr
              key={`${m.name} ${m.incarnation}`}
              data-master={m.name}
              className={lit === m.name ? "lit" : undefined}
              onMouseEnter={() => onLit(m.name)}
              onMouseLeave={() => onLit(undefined)}
            >
              <td>
                <span className="node-name">
                  <MasterMark name={m.name} marks={marks} />
                  <strong>{m.name}</strong>
                </span>
                <MasterState m={m} usual={version} />
              </td>
              <td className="n num">{m.slots}</td>
              <td className="n num">{m.instances ?? "–"}</td>
              <td className="n num">{m.commits_per_s?.toFixed(1) ?? "–"}</td>
              <td className="n num">{m.cpu?.toFixed(2) ?? "–"}</td>
              <td>
                {m.state === "gone" ? (
                  "–"
                ) : (
                  <Heard since={m.silent_since} limit={pulse.limits.master_ms} known={m.instances !== undefined} />
                )}
              </td>
              <td className="faint">{m.state === "gone" ? "–" : <Ago at={m.started_at} />}</td>
              {pulse.demo && (
                <td className="end">
                  {pulse.demo.includes(m.name) && m.state !== "gone" && (
                    <RowMenu
                      label={t("cluster.actions", { name: m.name })}
                      actions={[{ label: t("cluster.killNode", { name: m.name }), run: () => onKill(m.name), why }]}
                    />
                  )}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** MasterState says what is not as usual: a member of the layout with the version of the rest says nothing. */
function MasterState({ m, usual }: { m: PulseMaster; usual: string | undefined }) {
  const { t } = useSay();
  return (
    <>
      {m.state !== "member" && (
        <span className={`state-word node-note text-${m.state === "gone" ? "failed" : "retry"}`}>
          <StateIcon state={m.state === "gone" ? "failed" : "retry_wait"} size={14} />
          {t(`cluster.state.${m.state}`)}
        </span>
      )}
      {m.draining !== undefined && <span className="tag">{t("cluster.draining", { reason: m.draining })}</span>}
      {m.state !== "gone" && m.version !== usual && <Skew version={m.version} />}
    </>
  );
}

/** Skew marks a node whose version is another than that of most. */
export function Skew({ version }: { version: string }) {
  const { t } = useSay();
  return (
    <span className="state-word node-note text-retry" title={t("cluster.skew")}>
      <StateIcon state="retry_wait" size={14} label={t("cluster.skew")} />
      {version}
    </span>
  );
}

/** TakenOver tells how many instances were taken over from the masters that a change of the layout is about. */
export function TakenOver({ pulse }: { pulse: Pulse }) {
  const { t } = useSay();
  const last = pulse.slots.last;
  if (!last) return null;
  // A takeover and the layout after it follow from the same absence, within seconds; on a machine that is short of
  // processors it takes longer, and another end of the same node is further away than that.
  const near = pulse.failovers.filter(
    (f) => f.kind === "master" && named(last.cause, f.node) && Math.abs(Date.parse(f.detected_at) - Date.parse(last.committed_at)) < 60_000,
  );
  if (near.length === 0) return null;
  return (
    <Link to="/cluster/$tab" params={{ tab: "failovers" }}>
      {t("cluster.taken", { count: near.reduce((sum, f) => sum + f.instances, 0) })}
    </Link>
  );
}
