import { Button, Select } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type AuditEntry, auditQuery } from "../api/admin";
import { millis, moment } from "../domain/format";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FilterText } from "../parts/FilterText";
import { type AdminSearch, outcomes } from "../searchPages";
import { useSettings } from "../settings";

const hues = { done: "faint", failed: "text-retry", refused: "text-failed" } as const;

interface Props {
  search: AdminSearch;
  set: (part: AdminSearch, replace?: boolean) => void;
}

/** Audit is who changed what, and what was refused. */
export function Audit({ search, set }: Props) {
  const { t } = useSay();
  const { actor, action, object, outcome } = search;
  const list = useInfiniteQuery(auditQuery({ actor, action, object, outcome }));
  const rows = list.data?.pages.flatMap((p) => p.items) ?? [];
  const words = (name: "actor" | "action" | "object") => (
    <FilterText
      data-filter={name === "actor" || undefined}
      aria-label={t(`admin.audit.${name}`)}
      placeholder={t(`admin.audit.${name}`)}
      value={search[name] ?? ""}
      onFilter={(v) => set({ [name]: v }, true)}
    />
  );
  return (
    <>
      <p className="faint">{t("admin.audit.about")}</p>
      <div className="filters">
        {words("actor")}
        {words("action")}
        {words("object")}
        <Select
          aria-label={t("admin.audit.outcome")}
          data={[
            { value: "", label: t("admin.audit.anyOutcome") },
            ...outcomes.map((o) => ({ value: o, label: t(`admin.audit.outcome.${o}`) })),
          ]}
          value={outcome ?? ""}
          onChange={(v) => set({ outcome: outcomes.find((o) => o === v) }, true)}
        />
      </div>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows rows={8} />
      ) : rows.length === 0 ? (
        <p className="empty">{t(list.hasNextPage ? "admin.audit.looking" : "admin.audit.empty")}</p>
      ) : (
        <Table rows={rows} onActor={(name) => set({ actor: name })} />
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("admin.audit.more")}
        </Button>
      )}
    </>
  );
}

function Table({ rows, onActor }: { rows: AuditEntry[]; onActor: (name: string) => void }) {
  const { t } = useSay();
  const { zone } = useSettings();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("admin.tab.audit")}>
      <table className="plain audit">
        <thead>
          <tr>
            <th>{t("admin.audit.at")}</th>
            <th>{t("admin.audit.actor")}</th>
            <th>{t("admin.audit.action")}</th>
            <th>{t("admin.audit.object")}</th>
            <th>{t("admin.audit.outcome")}</th>
            <th>{t("admin.audit.address")}</th>
            <th>{t("admin.audit.detail")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={r.id}>
              <td className="num">
                <time dateTime={r.at}>{moment(millis(r.at) ?? 0, zone)}</time>
              </td>
              <td>
                {r.actor === "" ? (
                  <span className="faint">{t("admin.audit.nobody")}</span>
                ) : (
                  <button type="button" className="link" onClick={() => onActor(r.actor)}>
                    {r.actor}
                  </button>
                )}
              </td>
              <td>
                <code>{r.action}</code>
              </td>
              <td className="clipped" title={r.object}>
                {r.object}
              </td>
              <td className={hues[r.outcome]}>{t(`admin.audit.outcome.${r.outcome}`)}</td>
              <td className="mono faint">{r.address}</td>
              <td className="mono faint">{r.detail}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
