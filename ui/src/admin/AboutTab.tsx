import { useQuery } from "@tanstack/react-query";
import { aboutQuery } from "../api/admin";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";

/** AboutTab is what this installation is made of. */
export function AboutTab() {
  const { t } = useSay();
  const about = useQuery(aboutQuery);
  if (about.isError) return <ErrorView error={about.error} retry={() => void about.refetch()} />;
  if (about.isPending) return <SkeletonRows />;
  const a = about.data;
  const alive = [t("today.masters", { count: a.masters }), t("today.workers", { count: a.workers })].join(", ");
  return (
    <dl className="account-facts">
      <dt>{t("admin.about.version")}</dt>
      <dd className="mono">{a.version}</dd>
      <dt>{t("admin.about.node")}</dt>
      <dd className="mono">{a.node}</dd>
      <dt>{t("admin.about.mode")}</dt>
      <dd>{a.mode === "standalone" || a.mode === "cluster" ? t(`admin.about.mode.${a.mode}`) : a.mode || "–"}</dd>
      <dt>{t("admin.about.database")}</dt>
      <dd>{a.database || "–"}</dd>
      <dt>{t("admin.about.registry")}</dt>
      <dd>{a.registry === "etcd, embedded" ? t("admin.about.embedded") : a.registry || "–"}</dd>
      <dt>{t("admin.about.cluster")}</dt>
      <dd className="mono">{a.cluster_id || "–"}</dd>
      <dt>{t("admin.about.alive")}</dt>
      <dd>{alive}</dd>
      <dt>{t("admin.about.secrets")}</dt>
      <dd className={a.secrets ? undefined : "warning"}>{t(a.secrets ? "admin.about.secretsOn" : "admin.about.secretsOff")}</dd>
    </dl>
  );
}
