import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useFresh } from "../account/useFresh";
import { type LiveTask, liveTasksQuery } from "../api/tasks";
import { type Say, useSay } from "../i18n";
import { StateIcon } from "../parts/StateIcon";
import { Took } from "../parts/Times";
import { WaitReason } from "../task/WaitReason";

/** patience: a task may wait as long as it usually does before Today says so. */
const patience = "usual";

/** known is from how many earlier waits on the server compares. */
const known = 10;

/** Stuck is the tasks that have waited for long, with the reason; nothing while there is none. */
export function Stuck() {
  const { t } = useSay();
  const list = useInfiniteQuery(liveTasksQuery({ is: "waiting", older: patience }, 10));
  useFresh("live-tasks");
  const items = list.data?.pages.flatMap((p) => p.items) ?? [];
  if (items.length === 0) return null;
  return (
    <section>
      <h2>
        {t("today.stuck")}
        <Link className="more" to="/tasks" search={{ is: "waiting", older: patience }}>
          {t("today.stuckMore")}
        </Link>
      </h2>
      <ul className="trouble">
        {items.map((x) => (
          <li key={`${x.instance_id} ${x.task}`}>
            <Link
              to="/p/$project/r/$id"
              params={{ project: x.project, id: x.instance_id }}
              search={{ task: x.task, panel: "why" }}
              data-stuck={x.task}
            >
              <StateIcon state={x.state} size={18} />
              <span className="trouble-what">
                <strong>
                  {x.task}{" "}
                  <span className="faint">
                    {x.workflow} <span className="mono">{x.instance_id}</span>
                  </span>
                </strong>
                <WaitReason task={x} />
                <span className="line-note">{usualWords(t, x)}</span>
              </span>
              <span className="faint trouble-when">
                {x.project} · <Took from={x.since} to={undefined} live />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** usualWords say with what a wait was compared. */
function usualWords(t: Say, { usual }: LiveTask): string {
  if (!usual) return t("today.usualRetry");
  return usual.of < known ? t("today.usualUnknown", { time: usual.bound }) : t("today.usual", { time: usual.p90, count: usual.of });
}
