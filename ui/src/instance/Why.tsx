import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Fragment } from "react";
import type { Explanation } from "../api/client";
import { explainQuery } from "../api/queries";
import { remedyOf, sentenceOf } from "../domain/explain";
import { duration, moment } from "../domain/format";
import { isFinalTask } from "../domain/states";
import { type Say, useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { CopyButton } from "../parts/CopyButton";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Guarded } from "../parts/Guarded";
import { messageWords } from "../parts/messageWords";
import { Ago } from "../parts/Times";
import { type Intent, verbWord } from "../parts/verbs";
import { settings } from "../settings";

/** Doing is what a reader may do from a reason: look at a task, or act on it. */
export interface Doing {
  onShow?: (task: string) => void;
  onIntent?: (intent: Intent) => void;
  held?: string | undefined; // why the person may not act
}

interface Props extends Doing {
  id: string;
  task?: string;
  state: string;
}

/** lookEvery is how old the reason of what waits may be, in ms. */
const lookEvery = 3000;

/** Why prints the server's tree of reasons; the state is part of the question, so that a new one asks again. */
export function Why({ id, task, state, ...doing }: Props) {
  const { t } = useSay();
  // News tell of the instance's own changes. What it waits for changes elsewhere: a worker that leaves, a place that is taken.
  const why = useQuery({ ...explainQuery(id, task), refetchInterval: isFinalTask(state) ? false : lookEvery });
  return (
    <section className="why" data-state={state}>
      <h3>{t("explain.title")}</h3>
      {why.isError ? (
        <ErrorView error={why.error} retry={() => void why.refetch()} />
      ) : why.isPending ? (
        <SkeletonRows rows={2} />
      ) : (
        <ul>
          <Reason e={why.data} {...doing} />
        </ul>
      )}
    </section>
  );
}

/** sentence says a reason in the reader's language; a code that is not known stands as it came. */
export function sentence(t: Say, e: Explanation, now: number): string {
  const said = sentenceOf(e);
  if (said === undefined) return "";
  const reason = said.reason === undefined ? "" : ` (${word(t, "reason", said.reason)})`;
  const left = said.at === undefined ? "" : duration(Math.max(0, Date.parse(said.at) - now));
  const { from, to, state, gone } = e.args ?? {};
  const at = (x: string | undefined) => (x === undefined ? "" : moment(Date.parse(x), settings().zone));
  const more = {
    begin: at(from),
    end: at(to),
    ...(state === undefined ? {} : { state: word(t, "state", state) }),
    ...(gone === undefined ? {} : { gone: t(gone === "project" ? "about.noSuchProject" : "about.noSuchWorkflow") }),
  };
  const text = messageWords(t, String(said.values.text ?? ""));
  return t(`why.${said.key}`, { ...said.values, ...more, text, reason, left });
}

export function Reason({ e, onShow, onIntent, held }: { e: Explanation } & Doing) {
  const { t } = useSay();
  const timed = e.args?.at !== undefined || e.args?.until !== undefined;
  const now = useNow(timed);
  const text = sentence(t, e, now);
  const task = e.args?.task;
  const remedy = onIntent ? remedyOf(e) : undefined;
  return (
    <li>
      {text === "" ? (
        <>
          {t("explain.unknown", { code: e.code })} <CopyButton value={JSON.stringify(e)} label={t("instance.copyReason")} />
          {e.text && <span> {e.text}</span>}
        </>
      ) : e.args?.instance !== undefined ? (
        <Elsewhere text={text} id={e.args.instance} project={e.args.project ?? e.args.workflow?.split("/", 2).at(-2)} />
      ) : task !== undefined && onShow ? (
        <Linked text={text} task={task} onShow={onShow} />
      ) : (
        text
      )}
      {e.since && (
        <span className="faint">
          {" "}
          (<Ago at={e.since} />)
        </span>
      )}
      {remedy && onIntent && (
        <span className="remedy">
          <Guarded variant="default" why={held} onClick={() => onIntent(remedy)}>
            {t(verbWord(remedy))}
          </Guarded>
        </span>
      )}
      {e.causes && e.causes.length > 0 && (
        <ul>
          {e.causes.map((c) => (
            <Reason
              key={`${c.code} ${c.args?.task ?? c.text} ${c.args?.instance ?? ""}`}
              e={c}
              onShow={onShow}
              onIntent={onIntent}
              held={held}
            />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Elsewhere makes the number of another instance in a sentence the way to it; a task in it is not one of this page. */
function Elsewhere({ text, id, project }: { text: string; id: string; project: string | undefined }) {
  const here = useParams({ strict: false }).project ?? "";
  const at = text.search(new RegExp(`\\b${id}\\b`));
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <Link to="/p/$project/r/$id" params={{ project: project ?? here, id }}>
        {id}
      </Link>
      {text.slice(at + id.length)}
    </>
  );
}

/** Linked makes the task's name in a sentence the way to the task. */
function Linked({ text, task, onShow }: { text: string; task: string; onShow: (task: string) => void }) {
  const at = text.indexOf(task);
  if (at < 0) return text;
  return (
    <Fragment>
      {text.slice(0, at)}
      <button type="button" className="link" onClick={() => onShow(task)}>
        {task}
      </button>
      {text.slice(at + task.length)}
    </Fragment>
  );
}
