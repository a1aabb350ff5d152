import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import type { Explanation } from "../api/client";
import { explainQuery } from "../api/queries";
import { remedyOf, sentenceOf } from "../domain/explain";
import { duration } from "../domain/format";
import { type Say, useSay, word } from "../i18n";
import { useNow } from "../live/clock";
import { CopyButton } from "../parts/CopyButton";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Ago } from "../parts/Times";
import { type Intent, verbWord } from "../parts/verbs";

/** Doing is what a reader may do from a reason: look at a task, or act on it. */
export interface Doing {
  onShow?: (task: string) => void;
  onIntent?: (intent: Intent) => void;
}

interface Props extends Doing {
  id: string;
  task?: string;
  state: string;
}

/** Why prints the server's tree of reasons; the state is part of the question, so that a new one asks again. */
export function Why({ id, task, state, ...doing }: Props) {
  const { t } = useSay();
  const why = useQuery(explainQuery(id, task));
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
  return t(`why.${said.key}`, { ...said.values, reason, left });
}

export function Reason({ e, onShow, onIntent }: { e: Explanation } & Doing) {
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
        <Button variant="default" className="remedy" onClick={() => onIntent(remedy)}>
          {t(verbWord(remedy))}
        </Button>
      )}
      {e.causes && e.causes.length > 0 && (
        <ul>
          {e.causes.map((c) => (
            <Reason key={`${c.code} ${c.args?.task ?? c.text}`} e={c} onShow={onShow} onIntent={onIntent} />
          ))}
        </ul>
      )}
    </li>
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
