import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { slotWorkQuery } from "../api/cluster";
import type { Cell } from "../domain/cluster/slots";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { InstanceTable } from "../parts/InstanceTable";
import { Drawer } from "../parts/layers";
import { Ago } from "../parts/Times";
import "@mantine/core/styles/Drawer.css";

/** SlotDrawer is the work of one slot: what waits for its master, and what a master drives. */
export function SlotDrawer({ cell, onClose }: { cell: Cell | undefined; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Drawer
      opened={cell !== undefined}
      onClose={onClose}
      position="right"
      size="min(760px, 100%)"
      title={cell && t("cluster.slotTitle", { slot: cell.slot })}
      classNames={{ title: "drawer-title" }}
    >
      {cell && <Work cell={cell} />}
    </Drawer>
  );
}

function Work({ cell }: { cell: Cell }) {
  const { t } = useSay();
  const work = useQuery(slotWorkQuery(cell.slot));
  if (work.isError) return <ErrorView error={work.error} retry={() => void work.refetch()} />;
  if (work.isPending) return <SkeletonRows rows={6} />;
  const { commands, instances, hidden } = work.data;
  return (
    <div className="stack">
      <p>
        {cell.next === undefined
          ? `${t("cluster.slotMaster")}: ${cell.owner ?? t("cluster.nobody")}`
          : t("cluster.slotMoves", { slot: cell.slot, from: cell.owner ?? t("cluster.nobody"), to: cell.next })}
      </p>
      <section>
        <h3>{t("cluster.slotCommands")}</h3>
        {commands.length === 0 ? (
          <p className="calm">{t("cluster.slotNoCommands")}</p>
        ) : (
          <ul className="touched">
            {commands.map((c) => (
              <li key={`${c.instance_id} ${c.kind}`}>
                <span>
                  {t(`cluster.kind.${c.kind}`)}{" "}
                  <Link to="/p/$project/r/$id" params={{ project: "-", id: c.instance_id }}>
                    {c.instance_id}
                  </Link>
                  {c.lent && <span className="tag">{t("cluster.lent")}</span>}
                </span>
                <span className="faint">
                  <Ago at={c.created_at} />
                </span>
              </li>
            ))}
          </ul>
        )}
      </section>
      <section>
        <h3>{t("cluster.slotInstances")}</h3>
        {instances.length === 0 ? (
          <p className="calm">{t("cluster.slotNoInstances")}</p>
        ) : (
          <InstanceTable items={instances} label={t("cluster.slotInstances")} />
        )}
      </section>
      {hidden > 0 && <p className="faint">{t("cluster.hidden", { count: hidden })}</p>}
    </div>
  );
}
