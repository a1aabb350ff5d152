import { Button } from "@mantine/core";
import type { Attempt } from "../api/client";
import { duration, millis } from "../domain/format";
import { useSay, word } from "../i18n";
import { messageWords } from "../parts/messageWords";
import { StateWord } from "../parts/StateIcon";
import { Moment, Took } from "../parts/Times";
import { Artifacts } from "./Artifacts";

interface Props {
  id: string; // of the instance
  task: string;
  attempts: Attempt[];
  chosen: number;
  onLog?: (attempt: number) => void; // where there is one
}

/** Attempts tells of every try to run a task: where, when, how it ended, and where its output is. */
export function Attempts({ id, task, attempts, chosen, onLog }: Props) {
  const { t } = useSay();
  if (attempts.length === 0) return <p className="empty">{t("run.notStarted")}</p>;
  return (
    <ol className="attempts">
      {attempts.map((a) => {
        const [given, began] = [millis(a.dispatched_at), millis(a.started_at)];
        return (
          <li key={a.number} data-chosen={a.number === chosen}>
            <p className="attempt-line">
              <b className="num">#{a.number}</b> <StateWord state={a.state} size={14} />
              <Took from={a.started_at} to={a.finished_at} live />
              {onLog && (
                <Button variant="default" className="push" onClick={() => onLog(a.number)}>
                  {t("run.openLog")}
                </Button>
              )}
            </p>
            <dl className="facts-list">
              <dt>{t("instance.worker")}</dt>
              <dd>{a.worker ?? "–"}</dd>
              <dt>{t("instance.exitCode")}</dt>
              <dd className="num">{a.finished_at ? a.exit_code : "–"}</dd>
              <dt>{t("run.started")}</dt>
              <dd className="num">
                <Moment at={a.started_at} />
                {given !== undefined && began !== undefined && (
                  <span className="faint"> ({t("instance.afterDispatch", { took: duration(Math.max(0, began - given)) })})</span>
                )}
              </dd>
              <dt>{t("instance.ended")}</dt>
              <dd className="num">
                <Moment at={a.finished_at} />
              </dd>
              <dt>{t("instance.roundOf")}</dt>
              <dd className="num">{a.round}</dd>
            </dl>
            {a.reason && <p className="faint">{word(t, "reason", a.reason)}</p>}
            {a.state === "lost" && <p className="warning">{t("run.attemptLost", { worker: a.worker ?? "?" })}</p>}
            {a.artifacts && a.artifacts.length > 0 && <Artifacts id={id} task={task} attempt={a.number} files={a.artifacts} />}
            {a.message && a.reason !== "exit_code" && <p className="log-message">{messageWords(t, a.message)}</p>}
          </li>
        );
      })}
    </ol>
  );
}
