import { Button, Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { send } from "../api/commands";
import { type PreviewedVerb, previewQuery, type RerunScope } from "../api/queries";
import { type Sentence, useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "./ErrorView";
import { StateIcon } from "./StateIcon";

export interface Intent {
  verb: PreviewedVerb;
  task?: string;
  scope?: RerunScope;
}

export function verbWord(intent: Intent): Sentence {
  if (intent.verb === "rerun" && intent.task !== undefined) return intent.scope === "only" ? "act.rerunOnly" : "act.rerunTask";
  return `act.${intent.verb}`;
}

/** maxListed bounds the tasks that are named; the count says how many there are. */
const maxListed = 200;

interface Props {
  id: string;
  workflow: string;
  intent: Intent | undefined;
  onClose: () => void;
}

/** ActionDialog lists the very tasks that a verb touches, worked out by the server, before it is sent. */
export function ActionDialog({ id, workflow, intent, onClose }: Props) {
  const { t } = useSay();
  const title = !intent
    ? ""
    : intent.task !== undefined
      ? t("act.titleTask", { verb: t(verbWord(intent)), task: intent.task })
      : t("act.titleInstance", { verb: t(verbWord(intent)), workflow, id });
  return (
    <Modal opened={intent !== undefined} onClose={onClose} title={title} closeButtonProps={{ "aria-label": t("common.close") }} size="md">
      {intent && <Body id={id} intent={intent} onClose={onClose} />}
    </Modal>
  );
}

function Body({ id, intent, onClose }: { id: string; intent: Intent; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const preview = useQuery(previewQuery(id, intent.verb, intent.task, intent.scope));
  const verb = t(verbWord(intent));
  const act = useMutation({
    mutationFn: () => send({ id, ...intent }),
    onSuccess: () => {
      onClose();
      notifications.show({ message: t("act.done", { verb }), autoClose: 3000, withCloseButton: false });
      void client.invalidateQueries({ queryKey: ["instance", id] });
    },
  });
  const p = preview.data;
  const possible = p?.result === "applied" || p?.result === "already";
  return (
    <div className="stack">
      {preview.isError && <ErrorView error={preview.error} retry={() => void preview.refetch()} />}
      {preview.isPending && <SkeletonRows rows={3} />}
      {p && !possible && <p className="warning">{t("act.impossible", { result: p.result.replaceAll("_", " ") })}</p>}
      {p && possible && (
        <>
          <p>{p.tasks.length === 0 ? t("act.none") : t("act.changes", { count: p.tasks.length })}</p>
          {p.tasks.length > 0 && (
            <ul className="touched" tabIndex={0} aria-label={t("act.changes", { count: p.tasks.length })}>
              {p.tasks.slice(0, maxListed).map((x) => (
                <li key={x.name}>
                  <span>{x.name}</span>
                  <span className="faint">
                    <StateIcon state={x.from} size={14} /> {word(t, "state", x.from)}
                    {" → "}
                    <StateIcon state={x.to} size={14} /> {x.from === x.to ? t("act.again") : word(t, "state", x.to)}
                  </span>
                </li>
              ))}
              {p.tasks.length > maxListed && <li>…</li>}
            </ul>
          )}
          {p.kept > 0 && <p className="faint">{t("act.kept", { count: p.kept })}</p>}
        </>
      )}
      {act.isError && <ErrorView error={act.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button disabled={!possible} loading={act.isPending} onClick={() => act.mutate()}>
          {verb}
        </Button>
      </div>
    </div>
  );
}
