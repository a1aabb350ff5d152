import { Switch } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { type Pulse, settingsQuery } from "../api/cluster";
import { usual } from "../domain/cluster/nodes";
import { languages, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Ago } from "../parts/Times";
import { Skew } from "./Masters";
import { settingWords } from "./settingWords";

/** ConfigTab is how the processes are set: the one that answers, and what the others announce of themselves. */
export function ConfigTab({ pulse, why }: { pulse: Pulse; why: string | undefined }) {
  const { t } = useSay();
  return (
    <>
      {why === undefined ? <SettingsTable /> : <p className="empty">{why}</p>}
      <section>
        <h2>{t("cluster.nodes")}</h2>
        <Nodes pulse={pulse} />
      </section>
    </>
  );
}

function SettingsTable() {
  const { t, locale } = useSay();
  const language = languages.find((l) => l.value === locale)?.value ?? "en";
  const settings = useQuery(settingsQuery);
  const [onlySet, setOnlySet] = useState(false);
  if (settings.isError) return <ErrorView error={settings.error} retry={() => void settings.refetch()} />;
  if (settings.isPending) return <SkeletonRows rows={8} />;
  const { node, settings: all } = settings.data;
  const rows = onlySet ? all.filter((s) => s.source !== "default") : all;
  return (
    <section>
      <div className="part-head">
        <h2>{t("cluster.settings", { node })}</h2>
        <Switch label={t("cluster.onlySet")} checked={onlySet} onChange={(e) => setOnlySet(e.currentTarget.checked)} />
      </div>
      <p className="faint">{t("cluster.settingsAbout")}</p>
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.settings", { node })}>
        <table className="plain settings-table">
          <thead>
            <tr>
              <th>{t("cluster.key")}</th>
              <th>{t("cluster.value")}</th>
              <th>{t("cluster.source")}</th>
              <th className="settings-about">{t("cluster.about")}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((s) => (
              <tr key={s.key}>
                <td>
                  <code>{s.key}</code>
                </td>
                <td className="mono value">
                  {s.secret ? <span className="faint">{t("cluster.secret")}</span> : s.value || <span className="faint">–</span>}
                </td>
                <td className={s.source === "default" ? "faint" : undefined}>{t(`cluster.source.${s.source}`)}</td>
                <td className="settings-about faint">
                  {/* A setting of a newer server speaks as its command line does: in English. */}
                  {settingWords[s.key]?.[language] ?? <span lang="en">{s.about}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Nodes({ pulse }: { pulse: Pulse }) {
  const { t } = useSay();
  const nodes = [
    ...pulse.masters.filter((m) => m.state !== "gone").map((m) => ({ ...m, role: t("cluster.master1"), groups: [], labels: undefined })),
    ...pulse.workers.map((w) => ({ ...w, role: t("cluster.worker1"), address: undefined })),
  ];
  const version = usual(nodes.map((n) => n.version));
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.nodes")}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("cluster.node")}</th>
            <th>{t("cluster.role")}</th>
            <th>{t("cluster.version")}</th>
            <th>{t("cluster.address")}</th>
            <th className="n">{t("cluster.count")}</th>
            <th>{t("cluster.groups")}</th>
            <th>{t("cluster.since")}</th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((n) => (
            <tr key={`${n.role} ${n.name}`}>
              <td>{n.name}</td>
              <td className="faint">{n.role}</td>
              <td className="num">{n.version === version ? n.version : <Skew version={n.version} />}</td>
              <td className="mono">{n.address ?? <span className="faint">–</span>}</td>
              <td className="n num">{n.slots}</td>
              <td>
                {n.groups.join(", ")}
                {Object.entries(n.labels ?? {}).map(([name, value]) => (
                  <span key={name} className="tag">
                    {name}={value}
                  </span>
                ))}
              </td>
              <td className="faint">
                <Ago at={n.started_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
