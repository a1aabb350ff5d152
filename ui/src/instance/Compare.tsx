import { Button, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Fragment, useMemo, useState } from "react";
import type { Instance, Task } from "../api/client";
import { neighboursQuery } from "../api/instances";
import { attemptsQuery, instanceQuery, tasksQuery } from "../api/queries";
import { duration } from "../domain/format";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { StateWord } from "../parts/StateIcon";
import { TaskName } from "../parts/TaskName";
import { Moment, Took } from "../parts/Times";
import { paramPairs, type TaskPair, taskPairs } from "./difference";
import { LogDifference } from "./LogDifference";

interface Props {
  instance: Instance;
  tasks: Task[];
  other: string | undefined; // whose id the address holds; else the last success
  onOther: (id: string) => void;
  onChoose: (task: string) => void;
}

/** Compare sets this instance beside another of any version: what differs stands first. */
export function Compare({ instance, tasks, other, onOther, onChoose }: Props) {
  const { t } = useSay();
  const around = useQuery(neighboursQuery(instance.id));
  const id = other ?? around.data?.last_success ?? around.data?.previous;
  return (
    <div className="compare" tabIndex={0} role="region" aria-label={t("instance.compare")}>
      <form
        className="compare-with"
        key={id}
        onSubmit={(e) => {
          e.preventDefault();
          const value = new FormData(e.currentTarget).get("with");
          if (typeof value === "string" && /^[1-9]\d{0,18}$/.test(value.trim())) onOther(value.trim());
        }}
      >
        <TextInput name="with" label={t("instance.compareWith")} defaultValue={id ?? ""} inputMode="numeric" autoComplete="off" />
        <Button type="submit" variant="default">
          {t("instance.compareDo")}
        </Button>
        {[
          [around.data?.last_success, t("instance.lastSuccess")] as const,
          [around.data?.previous, t("instance.previous")] as const,
          [around.data?.next, t("instance.next")] as const,
        ].map(([to, text]) =>
          to && to !== id ? (
            <Button key={text} variant="subtle" onClick={() => onOther(to)}>
              {text} {to}
            </Button>
          ) : null,
        )}
      </form>
      {id === undefined ? (
        around.isPending ? (
          <SkeletonRows />
        ) : (
          <p className="empty">{t("instance.compareNone")}</p>
        )
      ) : (
        <Pair instance={instance} tasks={tasks} id={id} onChoose={onChoose} />
      )}
    </div>
  );
}

function Pair({ instance, tasks, id, onChoose }: { instance: Instance; tasks: Task[]; id: string; onChoose: (task: string) => void }) {
  const { t } = useSay();
  const other = useQuery(instanceQuery(id));
  const theirs = useQuery(tasksQuery(id));
  const pairs = useMemo(() => taskPairs(tasks, theirs.data ?? []), [tasks, theirs.data]);
  if (other.isError) return <ErrorView error={other.error} retry={() => void other.refetch()} />;
  if (theirs.isError) return <ErrorView error={theirs.error} retry={() => void theirs.refetch()} />;
  if (other.isPending || theirs.isPending) return <SkeletonRows />;
  const o = other.data;
  const params = paramPairs(instance.params, o.params);
  const differs = (a: unknown, b: unknown) => (a === b ? undefined : "differs");
  return (
    <>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("instance.what")}</th>
            <th>{t("instance.this", { id: instance.id })}</th>
            <th>
              <Link to="/p/$project/r/$id" params={{ project: o.project, id: o.id }}>
                {o.workflow} {o.id}
              </Link>
            </th>
          </tr>
        </thead>
        <tbody>
          <tr className={differs(instance.state, o.state)}>
            <th scope="row">{t("run.state")}</th>
            <td>
              <StateWord state={instance.state} />
            </td>
            <td>
              <StateWord state={o.state} />
            </td>
          </tr>
          <tr className={differs(instance.version, o.version)}>
            <th scope="row">{t("runs.version")}</th>
            <td>{t("common.version", { n: instance.version })}</td>
            <td>{t("common.version", { n: o.version })}</td>
          </tr>
          <tr>
            <th scope="row">{t("run.started")}</th>
            <td className="num">
              <Moment at={instance.started_at} />
            </td>
            <td className="num">
              <Moment at={o.started_at} />
            </td>
          </tr>
          <tr>
            <th scope="row">{t("run.duration")}</th>
            <td>
              <Took from={instance.started_at} to={instance.finished_at} />
            </td>
            <td>
              <Took from={o.started_at} to={o.finished_at} />
            </td>
          </tr>
          {params.map((p) => (
            <tr key={p.name} className={differs(p.one, p.other)}>
              <th scope="row" className="mono">
                {p.name}
              </th>
              <td className="mono value">{p.one ?? "–"}</td>
              <td className="mono value">{p.other ?? "–"}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <h3>{t("run.tasks")}</h3>
      <table className="plain">
        <thead>
          <tr>
            <th>{t("run.task")}</th>
            <th>{t("instance.this", { id: instance.id })}</th>
            <th>{o.id}</th>
            <th className="end">{t("instance.longerBy")}</th>
            <th className="c-output">{t("compare.output")}</th>
          </tr>
        </thead>
        <tbody>
          {pairs.slice(0, maxPairs).map((p) => (
            <PairRows key={p.name} pair={p} instance={instance} other={o} onChoose={onChoose} />
          ))}
        </tbody>
      </table>
      {pairs.length > maxPairs && <p className="faint meta">{t("act.listedMore", { count: pairs.length - maxPairs })}</p>}
    </>
  );
}

interface PairRowsProps {
  pair: TaskPair;
  instance: Instance;
  other: Instance;
  onChoose: (task: string) => void;
}

/** PairRows is a task in both, and below it, once somebody asks, the line in which its outputs part. */
function PairRows({ pair: p, instance, other, onChoose }: PairRowsProps) {
  const { t } = useSay();
  const [open, setOpen] = useState(false);
  const [one, two] = [p.one?.attempts ?? 0, p.other?.attempts ?? 0];
  const output = (id: string, attempt: number) => ({ id, task: p.name, attempt, stream: undefined });
  return (
    <Fragment>
      <tr className={p.one?.state === p.other?.state ? undefined : "differs"}>
        <td>
          <button type="button" className="plain-button" onClick={() => onChoose(p.name)}>
            <TaskName task={p.name} state={p.one?.state ?? ""} />
          </button>
        </td>
        <Side task={p.one} took={p.took} />
        <Side task={p.other} took={p.otherTook} />
        <td className="num end">{p.by === undefined ? "" : `${p.by < 0 ? "−" : "+"}${duration(Math.abs(p.by))}`}</td>
        <td className="c-output">
          {one > 0 && two > 0 && (
            <button
              type="button"
              className="link"
              aria-expanded={open}
              aria-label={t("compare.findOf", { task: p.name })}
              onClick={() => setOpen(!open)}
            >
              {t("compare.find")}
            </button>
          )}
        </td>
      </tr>
      {open && (
        <tr>
          <td colSpan={5}>
            <Workers task={p.name} ids={[instance.id, other.id]} />
            <LogDifference project={instance.project} one={output(instance.id, one)} other={output(other.id, two)} />
          </td>
        </tr>
      )}
    </Fragment>
  );
}

/** Workers is where the latest attempts of a task ran, in both. */
function Workers({ task, ids }: { task: string; ids: [string, string] }) {
  const { t } = useSay();
  const [one, other] = [useQuery(attemptsQuery(ids[0], task)), useQuery(attemptsQuery(ids[1], task))];
  if (!one.data || !other.data) return null;
  const [a, b] = [one, other].map((of) => of.data?.at(-1)?.worker || "–");
  return (
    <p className={a === b ? "faint" : undefined} data-workers>
      {t("compare.workers")}: <span className="mono">{a === b ? a : `${a} → ${b}`}</span>
    </p>
  );
}

/** maxPairs bounds the rows: what differs stands first, so that the rest is alike. */
const maxPairs = 200;

function Side({ task, took }: { task: Task | undefined; took: number | undefined }) {
  const { t } = useSay();
  if (!task) return <td className="faint">{t("instance.notThere")}</td>;
  return (
    <td className="num">
      <StateWord state={task.state} size={14} /> {took === undefined ? "" : duration(took)}
      {task.attempts > 1 && <span className="faint"> #{task.attempts}</span>}
    </td>
  );
}
