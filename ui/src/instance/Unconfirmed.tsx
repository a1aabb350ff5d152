import { useQuery } from "@tanstack/react-query";
import type { Task } from "../api/client";
import { eventsQuery, explainQuery } from "../api/queries";
import { duration } from "../domain/format";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { Reason } from "./Why";

/** confirmWithin is how long a kill may take before the page says that it was not confirmed. */
const confirmWithin = 10_000;

/** Unconfirmed says of a task that is being killed for too long why its end is not known. */
export function Unconfirmed({ id, tasks }: { id: string; tasks: Task[] }) {
  const task = tasks.find((x) => x.state === "killing");
  return task ? <Killing key={task.name} id={id} task={task.name} /> : null;
}

function Killing({ id, task }: { id: string; task: string }) {
  const { t } = useSay();
  const now = useNow();
  const events = useQuery(eventsQuery(id));
  const why = useQuery(explainQuery(id, task));
  const since = events.data?.findLast((e) => e.task === task && e.state === "killing")?.at;
  const waited = since === undefined ? 0 : now - Date.parse(since);
  if (waited < confirmWithin) return null;
  return (
    <section className="banner" role="alert">
      <p className="banner-line warning">{t("instance.notConfirmed", { task, waited: duration(waited) })}</p>
      {why.data && (
        <ul className="why">
          <Reason e={why.data} />
        </ul>
      )}
    </section>
  );
}
