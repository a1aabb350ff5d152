import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Instance } from "../api/client";
import { explainQuery } from "../api/queries";
import { rootCauses } from "../domain/explain";
import { useSay, word } from "../i18n";
import { sentence } from "../instance/Why";
import { messageWords } from "./messageWords";
import { StateIcon } from "./StateIcon";
import { Ago } from "./Times";

interface Props {
  i: Instance;
  /** What can be done about it, once the task is known that is to blame. */
  acts?: (culprit: string | undefined) => ReactNode;
  /** What is said below its reason. */
  children?: ReactNode;
}

/** InstanceLine is a failed instance with what it says about itself. */
export function InstanceLine({ i, acts, children }: Props) {
  const { t } = useSay();
  // What failed stays failed in this round: one question is enough.
  const why = useQuery({ ...explainQuery(i.id), staleTime: 60_000 });
  const cause = why.data && rootCauses(why.data)[0];
  return (
    <li data-failed={i.id}>
      <Link to="/p/$project/r/$id" params={{ project: i.project, id: i.id }}>
        <StateIcon state={i.state} size={18} label={word(t, "state", i.state)} />
        <span className="trouble-what">
          <strong>
            {i.workflow} <span className="mono faint">{i.id}</span>
          </strong>
          <span className="trouble-why">
            {cause
              ? [sentence(t, cause.e, Date.now()) || cause.text, ...cause.said.map((s) => messageWords(t, s))].join(": ")
              : i.reason
                ? word(t, "reason", i.reason)
                : ""}
          </span>
          {children}
        </span>
        <span className="faint trouble-when">
          {i.project} · <Ago at={i.finished_at ?? i.created_at} />
        </span>
      </Link>
      {acts && <span className="trouble-acts">{acts(cause?.e.args?.task)}</span>}
    </li>
  );
}
