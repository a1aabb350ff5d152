import type { Lineage } from "../api/lineage";
import { useSay } from "../i18n";
import { LastOf, WorkflowLink } from "./Ways";

/** EdgeTable is the same as the graph, to be read. */
export function EdgeTable({ lineage }: { lineage: Lineage }) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("lineage.list")}>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("lineage.from")}</th>
            <th>{t("lineage.last")}</th>
            <th>{t("lineage.how")}</th>
            <th>{t("lineage.to")}</th>
            <th>{t("lineage.last")}</th>
          </tr>
        </thead>
        <tbody>
          {lineage.edges.map((e) => {
            const [from, to] = [lineage.workflows[e.from], lineage.workflows[e.to]];
            return (
              from &&
              to && (
                <tr key={`${e.from} ${e.to} ${e.kind} ${e.name}`}>
                  <td>
                    <WorkflowLink w={from} />
                  </td>
                  <td>
                    <LastOf w={from} />
                  </td>
                  <td className="faint">{t(`lineage.kind.${e.kind}`, { name: e.name })}</td>
                  <td>
                    <WorkflowLink w={to} />
                  </td>
                  <td>
                    <LastOf w={to} />
                  </td>
                </tr>
              )
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
