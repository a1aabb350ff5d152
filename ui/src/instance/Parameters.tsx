import type { Instance, Task } from "../api/client";
import { useSay } from "../i18n";
import { CopyButton } from "../parts/CopyButton";

/** Parameters lists what the start gave and what the tasks gave on. */
export function Parameters({ instance, tasks }: { instance: Instance; tasks: Task[] }) {
  const { t } = useSay();
  const given = Object.entries(instance.params).map(([name, value]) => ({ name, value, from: t("run.startParam") }));
  const outputs = tasks.flatMap((x) => Object.entries(x.outputs ?? {}).map(([name, value]) => ({ name, value, from: x.name })));
  if (given.length + outputs.length === 0) return <p className="empty">{t("run.noParams")}</p>;
  return (
    <div className="params">
      {given.length > 0 && <Values title={t("run.instanceParams")} rows={given} />}
      {outputs.length > 0 && <Values title={t("run.outputs")} rows={outputs} />}
    </div>
  );
}

function Values({ title, rows }: { title: string; rows: { name: string; value: string; from: string }[] }) {
  const { t } = useSay();
  return (
    <>
      <h3>{title}</h3>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("run.name")}</th>
            <th>{t("run.value")}</th>
            <th>{t("run.from")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((r) => (
            <tr key={`${r.from} ${r.name}`}>
              <td className="mono">{r.name}</td>
              <td className="mono value">
                {r.value} <CopyButton value={r.value} label={`${t("common.copy")} ${r.name}`} />
              </td>
              <td className="faint">{r.from}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
