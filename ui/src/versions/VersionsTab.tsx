import "./versions.css";
import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { GitCompare } from "lucide-react";
import { useState } from "react";
import { publish } from "../api/commands";
import { versionsQuery } from "../api/queries";
import type { components } from "../api/schema";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Ago } from "../parts/Times";
import { useStay } from "../parts/useStay";
import { DiffView } from "./DiffView";
import { nameOf } from "./name";
import { RestoreDialog } from "./RestoreDialog";

type Version = components["schemas"]["Version"];

const route = getRouteApi("/p/$project/w/$workflow");

interface Props {
  project: string;
  workflow: string;
  latest: number;
  /** draft tells whether there is one. */
  draft: boolean;
  mayEdit: boolean;
}

/** VersionsTab lists who has saved what and why, compares any two, publishes, and brings an old one back. */
export function VersionsTab(props: Props) {
  const { from, to } = route.useSearch();
  return from !== undefined && to !== undefined ? <DiffView {...props} from={from} to={to} /> : <List {...props} />;
}

function List({ project, workflow, latest, draft, mayEdit }: Props) {
  const { t } = useSay();
  const go = useStay(route.useNavigate());
  const versions = useQuery(versionsQuery(project, workflow));
  const [restoring, setRestoring] = useState<number>();
  const [picked, setPicked] = useState<{ from?: string; to?: string }>({});
  if (versions.isError) return <ErrorView error={versions.error} retry={() => void versions.refetch()} />;
  if (versions.isPending) return <SkeletonRows />;
  const { items } = versions.data;
  const names = [...(draft ? ["draft"] : []), ...items.map((v) => String(v.version))];
  if (names.length === 0) return <p className="empty">{t("versions.none")}</p>;
  // The newest change is what most people want to see.
  const { to = names[0] ?? "", from = names[1] ?? "" } = picked;
  const pick = (side: "from" | "to") => (name: string) => setPicked((p) => ({ from, to, ...p, [side]: name }));
  return (
    <>
      <div className="versions-head">
        <Button
          variant="default"
          leftSection={<GitCompare size={14} />}
          disabled={from === "" || from === to}
          onClick={() => void go({ search: (s) => ({ ...s, from, to }) })}
        >
          {from === ""
            ? t("versions.compare")
            : t("versions.compareTwo", { from: nameOf(from, t("versions.draft")), to: nameOf(to, t("versions.draft")) })}
        </Button>
      </div>
      <div className="versions-box">
        <table className="plain">
          <thead>
            <tr>
              <th>{t("versions.from")}</th>
              <th>{t("versions.to")}</th>
              <th>{t("hub.startVersion")}</th>
              <th>{t("versions.message")}</th>
              <th>{t("runs.created")}</th>
              <th>{t("hub.createdBy")}</th>
              <th aria-label={t("hub.publish")} />
            </tr>
          </thead>
          <tbody>
            {draft && (
              <tr>
                <td />
                <td>
                  <Pick side="to" name="draft" chosen={to} onPick={pick("to")} />
                </td>
                <td colSpan={5}>
                  <Link to="/p/$project/w/$workflow/edit" params={{ project, workflow }}>
                    {t("versions.draft")}
                  </Link>
                </td>
              </tr>
            )}
            {items.map((v) => (
              <Row
                key={v.version}
                {...{ project, workflow, mayEdit, v, from, to }}
                newest={v.version === latest}
                onPick={pick}
                onRestore={setRestoring}
              />
            ))}
          </tbody>
        </table>
      </div>
      <RestoreDialog {...{ project, workflow, latest }} version={restoring} onClose={() => setRestoring(undefined)} />
    </>
  );
}

interface RowProps {
  project: string;
  workflow: string;
  v: Version;
  from: string;
  to: string;
  newest: boolean;
  mayEdit: boolean;
  onPick: (side: "from" | "to") => (name: string) => void;
  onRestore: (version: number) => void;
}

function Row({ project, workflow, v, from, to, newest, mayEdit, onPick, onRestore }: RowProps) {
  const { t } = useSay();
  const client = useQueryClient();
  const set = useMutation({
    mutationFn: () => publish(project, workflow, v.version),
    onSuccess: () => client.invalidateQueries({ queryKey: ["workflow", project, workflow] }),
  });
  const name = String(v.version);
  const why = mayEdit ? undefined : t("versions.noRight");
  return (
    <tr>
      <td>
        <Pick side="from" name={name} chosen={from} onPick={onPick("from")} />
      </td>
      <td>
        <Pick side="to" name={name} chosen={to} onPick={onPick("to")} />
      </td>
      <td>
        <Link to="." search={{ tab: "definition", v: name }} className="num">
          {t("common.version", { n: v.version })}
        </Link>{" "}
        {v.published && <span className="tag">{t("hub.published")}</span>}
      </td>
      <td className="message">{v.message}</td>
      <td className="faint">
        <Ago at={v.created_at} />
      </td>
      <td className="faint">{v.created_by}</td>
      <td className="end">
        {set.isError && <ErrorView error={set.error} />}
        {!newest && (
          <Button variant="default" disabled={!mayEdit} title={why} onClick={() => onRestore(v.version)}>
            {t("versions.restore")}
          </Button>
        )}
        {!v.published && (
          <Button variant="default" disabled={!mayEdit} title={why} loading={set.isPending} onClick={() => set.mutate()}>
            {t("hub.publish")}
          </Button>
        )}
      </td>
    </tr>
  );
}

function Pick({ side, name, chosen, onPick }: { side: "from" | "to"; name: string; chosen: string; onPick: (name: string) => void }) {
  const { t } = useSay();
  const label = t(side === "from" ? "versions.compareFrom" : "versions.compareTo", { version: nameOf(name, t("versions.draft")) });
  return (
    <input
      type="radio"
      className="pick"
      name={`versions-${side}`}
      checked={chosen === name}
      aria-label={label}
      onChange={() => onPick(name)}
    />
  );
}
