import { Link } from "@tanstack/react-router";
import { ChevronDown, ChevronRight } from "lucide-react";
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
import { type Alike, alike } from "./alike";

/** shown is how many groups stand on Today; the list of instances has the rest. */
const shown = 20;

interface Asking {
  onAsk: (of: Instance, intent: Intent) => void;
  onAcknowledge: (of: Instance) => void;
}

/** Failed is what has failed, each with its reason and with what can be done at once. */
export function Failed({ list }: { list: Instance[] }) {
  const [asked, ask] = useState<{ of: Instance; intent: Intent }>();
  const [seen, acknowledge] = useState<Instance>();
  return (
    <>
      <ul className="trouble">
        {alike(list)
          .slice(0, shown)
          .map((g) => (
            <Group key={g.key} of={g} onAsk={(of, intent) => ask({ of, intent })} onAcknowledge={acknowledge} />
          ))}
      </ul>
      {asked && <ActionDialog instance={asked.of} intent={asked.intent} onClose={() => ask(undefined)} />}
      <AcknowledgeDialog instance={seen} onClose={() => acknowledge(undefined)} />
    </>
  );
}

/** Group is the newest of what failed alike; the others are behind their number. */
function Group({ of: { newest, older }, ...asking }: { of: Alike } & Asking) {
  const { t } = useSay();
  const [open, setOpen] = useState(false);
  return (
    <>
      <Line i={newest} {...asking} />
      {older.length > 0 && (
        <li className="trouble-alike">
          <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            {open ? <ChevronDown size={14} /> : <ChevronRight size={14} />}
            {t("today.alike", { count: older.length, workflow: newest.workflow })}
          </button>
        </li>
      )}
      {open && older.map((i) => <Line key={i.id} i={i} {...asking} />)}
    </>
  );
}

function Line({ i, onAsk, onAcknowledge }: { i: Instance } & Asking) {
  const { t } = useSay();
  const me = useMe();
  const takeBack = useUnacknowledge();
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
            <Guarded variant="default" why={why} onClick={() => onAsk(i, { verb })}>
              {t(verb === "recover" ? "today.recover" : verbWord({ verb }))}
              {which}
            </Guarded>
          )}
          <Guarded variant="default" why={why} onClick={() => (i.acknowledged ? takeBack.mutate(i) : onAcknowledge(i))}>
            {t(i.acknowledged ? "today.unacknowledge" : "today.acknowledge")}
            {which}
          </Guarded>
        </>
      )}
    >
      <AcknowledgedBy of={i.acknowledged} />
    </InstanceLine>
  );
}
