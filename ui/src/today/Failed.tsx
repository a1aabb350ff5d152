import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Instance } from "../api/client";
import { roleIn } from "../domain/rights";
import { instanceVerbs } from "../domain/states";
import { useSay } from "../i18n";
import { AcknowledgedBy } from "../parts/AcknowledgedBy";
import { ActionDialog, type Intent, verbWord } from "../parts/ActionDialog";
import { Guarded } from "../parts/Guarded";
import { InstanceLine } from "../parts/InstanceLine";
import { useMe, whyNot } from "../shell/me";
import { AcknowledgeDialog, useUnacknowledge } from "./Acknowledge";

/** Failed is what has failed, each with its reason and with what can be done at once. */
export function Failed({ list }: { list: Instance[] }) {
  const { t } = useSay();
  const me = useMe();
  const [asked, ask] = useState<{ of: Instance; intent: Intent }>();
  const [seen, acknowledge] = useState<Instance>();
  const takeBack = useUnacknowledge();
  return (
    <>
      <ul className="trouble">
        {list.map((i) => {
          const verb = instanceVerbs(i.state)[0];
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
                  {verb && (
                    <Guarded variant="default" why={why} onClick={() => ask({ of: i, intent: { verb } })}>
                      {t(verb === "recover" ? "today.recover" : verbWord({ verb }))}
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
      {asked && <ActionDialog instance={asked.of} intent={asked.intent} onClose={() => ask(undefined)} />}
      <AcknowledgeDialog instance={seen} onClose={() => acknowledge(undefined)} />
    </>
  );
}
