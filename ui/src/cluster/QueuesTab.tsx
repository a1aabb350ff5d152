import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type BusyTaskGroup, busyTaskGroupsQuery, groupTasksQuery, type Pulse, type Queue } from "../api/cluster";
import { duration } from "../domain/format";
import { type Say, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { Ago } from "../parts/Times";
import { forcedWords } from "../project/forced";
import type { ClusterSearch } from "../searchCluster";

interface Props {
  pulse: Pulse;
  search: ClusterSearch;
  set: (part: ClusterSearch, replace?: boolean) => void;
}

/** QueuesTab is what waits where, and how that goes: commands for masters, tasks for workers, tasks for places of groups. */
export function QueuesTab({ pulse, search, set }: Props) {
  const { t } = useSay();
  return (
    <>
      <section>
        <h2>{t("cluster.queuesTitle")}</h2>
        <div className="scroll-x" tabIndex={0} role="group" aria-label={t("cluster.queuesTitle")}>
          <table className="plain queues">
            <thead>
              <tr>
                <th>{t("cluster.queue")}</th>
                <th>{t("cluster.verdict")}</th>
                <th className="n">{t("cluster.waiting")}</th>
                <th>{t("cluster.oldest")}</th>
                <th className="n">{t("cluster.in")}</th>
                <th className="n">{t("cluster.out")}</th>
                <th>{t("cluster.workersOf")}</th>
              </tr>
            </thead>
            <tbody>
              {pulse.queues.map((q) => (
                <tr key={`${q.kind} ${q.name ?? ""}`} data-queue={q.name ?? q.kind}>
                  <td>{q.kind === "commands" ? t("cluster.queueCommands") : t("cluster.queueGroup", { name: q.name ?? "" })}</td>
                  <td title={rateWords(t, q)}>
                    <Verdict q={q} />
                    <span className="faint queue-words">{rateWords(t, q)}</span>
                  </td>
                  <td className="n num" data-label={t("cluster.waiting")}>
                    {q.waiting}
                  </td>
                  <td className="num" data-label={t("cluster.oldest")}>
                    {q.oldest ? <Ago at={q.oldest} /> : <span className="faint">–</span>}
                  </td>
                  <td className="n num" data-label={t("cluster.in")}>
                    {q.in_per_s?.toFixed(1) ?? "–"}
                  </td>
                  <td className="n num" data-label={t("cluster.out")}>
                    {q.out_per_s?.toFixed(1) ?? "–"}
                  </td>
                  <td className="num">
                    {q.kind === "commands" ? (
                      <span className="faint">–</span>
                    ) : (q.workers ?? 0) === 0 ? (
                      <span className="warning">{t("cluster.noWorkerServes")}</span>
                    ) : (
                      <>
                        {t("cluster.workers", { count: q.workers ?? 0 })},{" "}
                        <span className="faint">{t("cluster.groupRunning", { running: q.running ?? 0, slots: q.slots ?? 0 })}</span>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </section>
      <TaskGroups open={search.group} onOpen={(group) => set({ group })} />
    </>
  );
}

/** rateWords say what the rates come to for who waits. */
function rateWords(t: Say, q: Queue): string {
  const [inward, out] = [q.in_per_s ?? 0, q.out_per_s ?? 0];
  switch (q.verdict) {
    case "draining":
      return out > inward ? t("cluster.words.draining", { time: duration((q.waiting / (out - inward)) * 1000) }) : "";
    case "growing":
      return t("cluster.words.growing", { n: Math.max(1, Math.round((inward - out) * 60)) });
    case "stuck":
      return t("cluster.words.stuck");
    default:
      return "";
  }
}

const looks = { stuck: "failed", growing: "retry_wait" } as const;

/** Verdict is the word for how a queue goes; only what somebody should look at has a hue. */
function Verdict({ q }: { q: Queue }) {
  const { t } = useSay();
  const word = t(`cluster.verdict.${q.verdict}`);
  if (q.verdict !== "stuck" && q.verdict !== "growing") return <span className={q.verdict === "empty" ? "faint" : undefined}>{word}</span>;
  return (
    <span className={`state-word text-${q.verdict === "stuck" ? "failed" : "retry"}`}>
      <StateIcon state={looks[q.verdict]} size={14} /> {word}
    </span>
  );
}

function TaskGroups({ open, onOpen }: { open: string | undefined; onOpen: (group: string | undefined) => void }) {
  const { t } = useSay();
  const groups = useQuery(busyTaskGroupsQuery);
  return (
    <section>
      <h2>{t("cluster.taskGroups")}</h2>
      {groups.isError ? (
        <ErrorView error={groups.error} retry={() => void groups.refetch()} />
      ) : groups.isPending ? (
        <SkeletonRows rows={2} />
      ) : groups.data.length === 0 ? (
        <p className="calm">{t("cluster.noTaskGroups")}</p>
      ) : (
        <ul className="group-list">
          {groups.data.map((g) => {
            const id = `${g.project}/${g.name}`;
            return <GroupRow key={id} g={g} open={open === id} onToggle={() => onOpen(open === id ? undefined : id)} />;
          })}
        </ul>
      )}
    </section>
  );
}

function GroupRow({ g, open, onToggle }: { g: BusyTaskGroup; open: boolean; onToggle: () => void }) {
  const { t } = useSay();
  return (
    <li>
      <div className="group-row">
        <button type="button" className="link" aria-expanded={open} onClick={onToggle}>
          {g.project} / {g.name}
        </button>
        <span className="num">{t("cluster.usedOf", { used: g.used, size: g.size })}</span>
        <span className={g.waiting > 0 ? "num" : "num faint"}>
          {t("cluster.waiting")}: {g.waiting}
        </span>
      </div>
      {open && (
        <>
          <Link to="/p/$project/settings" params={{ project: g.project }} search={{ tab: "groups", open: g.name }}>
            {t("cluster.forceThere")}
          </Link>
          <GroupTasks g={g} />
        </>
      )}
    </li>
  );
}

/** GroupTasks are the tasks of a group: who has its places, and who waits, in the order of their turn. */
function GroupTasks({ g }: { g: BusyTaskGroup }) {
  const { t } = useSay();
  const detail = useQuery(groupTasksQuery(g.project, g.name));
  if (detail.isError) return <ErrorView error={detail.error} retry={() => void detail.refetch()} />;
  if (detail.isPending) return <SkeletonRows rows={2} />;
  const parts = [
    { title: t("cluster.holders"), tasks: detail.data.tasks.filter((x) => !x.waiting) },
    { title: t("cluster.waiters"), tasks: detail.data.tasks.filter((x) => x.waiting) },
  ];
  return (
    <div className="group-tasks">
      {parts.map(({ title, tasks }) => (
        <div key={title}>
          <h3>{title}</h3>
          {tasks.length === 0 ? (
            <p className="faint">{t("common.none")}</p>
          ) : (
            <ol className="touched">
              {tasks.map((x) => (
                <li key={`${x.instance_id} ${x.task}`}>
                  <span>
                    <Link to="/p/$project/r/$id" params={{ project: g.project, id: x.instance_id }} search={{ task: x.task }}>
                      {x.task}
                    </Link>{" "}
                    <span className="faint">
                      {x.workflow} {x.instance_id}
                    </span>
                    {x.forced && <span className="tag">{forcedWords(t, x)}</span>}
                  </span>
                  <span className="faint">
                    <StateWord state={x.state} size={14} /> <Ago at={x.ready_at} />
                  </span>
                </li>
              ))}
            </ol>
          )}
        </div>
      ))}
    </div>
  );
}
