import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Instance } from "../api/client";
import { roleIn } from "../domain/rights";
import { useSay } from "../i18n";
import { AcknowledgedBy } from "../parts/AcknowledgedBy";
import { ActionDialog } from "../parts/ActionDialog";
import { Guarded } from "../parts/Guarded";
import { InstanceLine } from "../parts/InstanceLine";
import { useMe, whyNot } from "../shell/me";
import { AcknowledgeDialog, useUnacknowledge } from "./Acknowledge";

/** Failed is what has failed, each with its reason and with what can be done at once. */
export function Failed({ list }: { list: Instance[] }) {
  const { t } = useSay();
  const me = useMe();
  const [recovered, recover] = useState<Instance>();
  const [seen, acknowledge] = useState<Instance>();
  const takeBack = useUnacknowledge();
  return (
    <>
      <ul className="trouble">
        {list.map((i) => {
          const why = whyNot(t, roleIn(me, i.project), "operator");
          const which = (
            <span className="unseen">
              {" "}
              {i.workflow} {i.id}
            </span>
          );
          return (
            <InstanceLine
              key={i.id}
              i={i}
              acts={(culprit) => (
                <>
                  {culprit !== undefined && (
                    <Link
                      className="button-link"
                      to="/p/$project/r/$id"
                      params={{ project: i.project, id: i.id }}
                      search={{ task: culprit, panel: "log" }}
                    >
                      {t("today.openLog")}
                      {which}
                    </Link>
                  )}
                  {i.state === "failed" && (
                    <Guarded variant="default" why={why} onClick={() => recover(i)}>
                      {t("today.recover")}
                      {which}
                    </Guarded>
                  )}
                  <Guarded variant="default" why={why} onClick={() => (i.acknowledged ? takeBack.mutate(i) : acknowledge(i))}>
                    {t(i.acknowledged ? "today.unacknowledge" : "today.acknowledge")}
                    {which}
                  </Guarded>
                </>
              )}
            >
              <AcknowledgedBy of={i.acknowledged} />
            </InstanceLine>
          );
        })}
      </ul>
      {recovered && <ActionDialog instance={recovered} intent={{ verb: "recover" }} onClose={() => recover(undefined)} />}
      <AcknowledgeDialog instance={seen} onClose={() => acknowledge(undefined)} />
    </>
  );
}
