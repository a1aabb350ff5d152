import { Tabs, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Search } from "lucide-react";
import type { Resource } from "../api/resources";
import { resourcesQuery } from "../api/resources";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { Moment } from "../parts/Times";
import { useStay } from "../parts/useStay";
import { type ResourceKind, type ResourcesSearch, resourceKinds } from "../searchPages";
import "../account/account.css";
import "../parts/guarded.css";
import "../resource/resource.css";

const route = getRouteApi("/resources");
const tabs = { "task-groups": "groups", environments: "environments", secrets: "secrets" } as const;

/** ResourcesPage is what tasks share by name, in all projects, and who would feel it if one of them changed. */
export function ResourcesPage() {
  const { t } = useSay();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const kind = search.kind ?? "worker-groups";
  const set = (part: ResourcesSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  return (
    <div className="page">
      <h1>{t("nav.resources")}</h1>
      <Tabs
        value={kind}
        onChange={(v) => void go({ search: { kind: resourceKinds.find((k) => k === v) } })}
        keepMounted={false}
        className="tabs"
      >
        <Tabs.List aria-label={t("nav.resources")}>
          {resourceKinds.map((k) => (
            <Tabs.Tab key={k} value={k}>
              {t(`resources.${k}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={kind} className="panel">
          <Kind key={kind} kind={kind} search={search} set={set} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

interface Props {
  kind: ResourceKind;
  search: ResourcesSearch;
  set: (part: ResourcesSearch, replace?: boolean) => void;
}

const idOf = (r: Resource) => `${r.project ?? ""}/${r.name}`;

function Kind({ kind, search, set }: Props) {
  const { t } = useSay();
  const list = useQuery(resourcesQuery(kind));
  const wanted = (search.q ?? "").toLowerCase();
  const rows = (list.data?.items ?? []).filter((r) => idOf(r).toLowerCase().includes(wanted));
  return (
    <>
      <p className="faint about">{t(`resources.about.${kind}`)}</p>
      <div className="list-tools">
        <TextInput
          data-filter
          aria-label={t("resources.filter")}
          placeholder={t("resources.filter")}
          leftSection={<Search size={13} />}
          value={search.q ?? ""}
          onChange={(e) => set({ q: e.currentTarget.value || undefined }, true)}
          maxLength={200}
        />
        <span className="faint" role="status">
          {list.isSuccess && t("resources.count", { count: rows.length })}
        </span>
      </div>
      {list.isError ? (
        <ErrorView error={list.error} retry={() => void list.refetch()} />
      ) : list.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <p className="empty">{t(wanted === "" ? "resources.none" : "resources.noMatch")}</p>
      ) : (
        <ul className="resources">
          {rows.map((r) => (
            <Row key={idOf(r)} kind={kind} r={r} open={search.open === idOf(r)} set={set} />
          ))}
        </ul>
      )}
      {list.data?.cut && <p className="faint meta">{t("resources.cut")}</p>}
    </>
  );
}

function Row({ kind, r, open, set }: { kind: ResourceKind; r: Resource; open: boolean; set: Props["set"] }) {
  const { t } = useSay();
  return (
    <li data-resource={idOf(r)}>
      <div className="resource-row">
        <span className="resource-name">
          <strong>{r.name}</strong> {kind !== "worker-groups" && <span className="faint">{r.project ?? t("resources.all")}</span>}
          {r.description && <span className="faint resource-about">{r.description}</span>}
        </span>
        <span className="resource-facts">
          {r.missing ? (
            <span className="state-word text-retry">
              <StateIcon state="retry_wait" size={14} /> {t(kind === "worker-groups" ? "resources.noWorker" : "resources.missing")}
            </span>
          ) : (
            <Facts kind={kind} r={r} />
          )}
        </span>
        {r.tasks === 0 ? (
          <span className="faint">{t("resources.unused")}</span>
        ) : (
          <button type="button" className="link" aria-expanded={open} onClick={() => set({ open: open ? undefined : idOf(r) })}>
            {t("resources.used", { count: r.tasks })}
            <span className="unseen"> {r.name}</span>
          </button>
        )}
        <span className="resource-do">
          <Edit kind={kind} r={r} />
        </span>
      </div>
      {open && r.tasks > 0 && <Users r={r} />}
    </li>
  );
}

function Facts({ kind, r }: { kind: ResourceKind; r: Resource }) {
  const { t } = useSay();
  switch (kind) {
    case "worker-groups":
      return <>{t("resources.workers", { workers: r.workers ?? 0, slots: r.slots ?? 0 })}</>;
    case "task-groups":
      return (
        <>
          {t("settings.groups.used", { used: r.used ?? 0, size: r.size ?? 0 })}
          {(r.waiting ?? 0) > 0 && `, ${t("settings.groups.waiting", { count: r.waiting ?? 0 })}`}
          {r.rate && `, ${t("settings.groups.rateOf", { tasks: r.rate.tasks, per: r.rate.per })}`}
        </>
      );
    case "environments":
      return <>{t("settings.environments.count", { count: r.variables ?? 0 })}</>;
    case "secrets":
      return (
        <span className="faint">
          {t("settings.changed")} <Moment at={r.updated_at} /> {r.updated_by}
        </span>
      );
  }
}

/** Edit leads to where the thing is made, changed and deleted: the settings of its project, or of all. */
function Edit({ kind, r }: { kind: ResourceKind; r: Resource }) {
  const { t } = useSay();
  if (kind === "worker-groups") {
    return (
      <Link to="/cluster/$tab" params={{ tab: "workers" }}>
        {t("resources.openWorkers")}
        <span className="unseen"> {r.name}</span>
      </Link>
    );
  }
  const words = (
    <>
      {t(r.missing ? "resources.make" : "settings.edit")}
      <span className="unseen"> {r.name}</span>
    </>
  );
  const wish = r.missing ? { new: "1" as const } : { edit: r.name };
  if (r.project !== undefined) {
    return (
      <Link to="/p/$project/settings" params={{ project: r.project }} search={{ tab: tabs[kind], ...wish }}>
        {words}
      </Link>
    );
  }
  if (kind === "task-groups") return null; // there is none of all projects
  return (
    <Link to="/admin" search={{ tab: kind, ...wish }}>
      {words}
    </Link>
  );
}

function Users({ r }: { r: Resource }) {
  const { t } = useSay();
  return (
    <ul className="resource-users">
      {r.used_by.map((u) => (
        <li key={`${u.project}/${u.workflow}`}>
          <Link to="/p/$project/w/$workflow" params={{ project: u.project, workflow: u.workflow }}>
            {u.project} / {u.workflow}
          </Link>{" "}
          <span className="faint">
            {u.tasks.join(", ")}
            {u.count > u.tasks.length && ` ${t("resources.moreTasks", { count: u.count - u.tasks.length })}`}
          </span>
        </li>
      ))}
      {r.workflows > r.used_by.length && (
        <li className="faint">{t("resources.moreWorkflows", { count: r.workflows - r.used_by.length })}</li>
      )}
    </ul>
  );
}
