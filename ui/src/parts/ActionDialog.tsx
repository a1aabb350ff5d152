import { Button, SegmentedControl, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, type Instance, type Preview } from "../api/client";
import { release, send } from "../api/commands";
import { type PreviewedVerb, previewQuery, type RerunScope } from "../api/queries";
import { type Sentence, useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "./ErrorView";
import { FormError } from "./FormError";
import { Modal } from "./layers";
import { RerunForm } from "./RerunForm";
import { StateIcon } from "./StateIcon";
import { type Intent, verbWord } from "./verbs";

export type { Intent } from "./verbs";
export { verbWord } from "./verbs";

/** maxListed bounds the tasks that are named; the count says how many there are. */
const maxListed = 200;

const results: Record<string, Sentence> = {
  not_running: "act.notRunning",
  not_paused: "act.notPaused",
  not_skippable: "act.notSkippable",
  not_recoverable: "act.notRecoverable",
  nothing_to_recover: "act.nothingToRecover",
  not_finished: "act.notFinished",
  no_such_task: "act.noSuchTask",
  parent_running: "act.parentRunning",
};

interface Props {
  instance: Instance;
  intent: Intent | undefined;
  onClose: () => void;
}

/** ActionDialog lists the very tasks that a verb touches, worked out by the server, before it is sent. */
export function ActionDialog({ instance, intent, onClose }: Props) {
  const { t } = useSay();
  const { id, workflow } = instance;
  const title = !intent
    ? ""
    : intent.task !== undefined
      ? t("act.titleTask", { verb: t(verbWord(intent)), task: intent.task })
      : t("act.titleInstance", { verb: t(verbWord(intent)), workflow, id });
  return (
    <Modal opened={intent !== undefined} onClose={onClose} title={title} size="md">
      {intent && <Body key={JSON.stringify(intent)} instance={instance} intent={intent} onClose={onClose} />}
    </Modal>
  );
}

interface BodyProps {
  instance: Instance;
  intent: Intent;
  onClose: () => void;
}

function Body({ instance, intent: { verb, ...rest }, onClose }: BodyProps) {
  return verb === "release" ? (
    <Release instance={instance} onClose={onClose} />
  ) : (
    <Previewed instance={instance} intent={{ verb, ...rest }} onClose={onClose} />
  );
}

/** useDone is what follows on an answer: the dialog closes, the page is told and reads anew. */
function useDone(instance: Instance, verb: string, onClose: () => void) {
  const { t } = useSay();
  const client = useQueryClient();
  return () => {
    onClose();
    notifications.show({ message: t("act.done", { verb }), autoClose: 3000, withCloseButton: false });
    void client.invalidateQueries({ queryKey: ["instance", instance.id] });
  };
}

/** Release says what set the instance aside, and lets it go on. */
function Release({ instance, onClose }: Omit<BodyProps, "intent">) {
  const { t } = useSay();
  const verb = t("act.release");
  const act = useMutation({ mutationFn: () => release(instance.id), onSuccess: useDone(instance, verb, onClose) });
  return (
    <div className="stack">
      <p>{t("act.releaseAbout")}</p>
      <FormError error={act.error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button loading={act.isPending} onClick={() => act.mutate()}>
          {verb}
        </Button>
      </div>
    </div>
  );
}

type PreviewedProps = BodyProps & { intent: { verb: PreviewedVerb } };

function Previewed({ instance, intent, onClose }: PreviewedProps) {
  const { t } = useSay();
  const [anew, setAnew] = useState(false);
  const ofAll = intent.verb === "rerun" && intent.task === undefined;
  return (
    <div className="stack">
      {ofAll && <Switch label={t("act.anew")} checked={anew} onChange={(e) => setAnew(e.currentTarget.checked)} />}
      {ofAll && anew ? (
        <RerunForm instance={instance} onClose={onClose} />
      ) : (
        <InPlace instance={instance} intent={intent} onClose={onClose} />
      )}
    </div>
  );
}

const scopes: { value: RerunScope; word: Sentence }[] = [
  { value: "downstream", word: "act.scopeDownstream" },
  { value: "only", word: "act.scopeOnly" },
  { value: "upstream", word: "act.scopeUpstream" },
];

/** InPlace asks for a verb with the token of the list that the person looks at. */
function InPlace({ instance, intent, onClose }: PreviewedProps) {
  const { t } = useSay();
  const id = instance.id;
  const [scope, setScope] = useState(intent.scope);
  // Once it is asked for, the news of it must not bring a list of what it would do now.
  const [asked, setAsked] = useState(false);
  const preview = useQuery({ ...previewQuery(id, intent.verb, intent.task, scope), enabled: !asked });
  const verb = t(verbWord(intent));
  const done = useDone(instance, verb, onClose);
  const act = useMutation({
    onMutate: () => setAsked(true),
    // A stop must not lose a race against an instance that moves all the time: asked again, it is sent as it is.
    mutationFn: (refused: boolean) =>
      send({ id, ...intent, scope, preview: refused && intent.verb === "stop" ? undefined : preview.data?.token }),
    onSuccess: done,
    onError: (error) => {
      setAsked(false);
      if (isStale(error)) void preview.refetch();
    },
  });
  const moved = isStale(act.error);
  const p = preview.data;
  const possible = p?.result === "applied" || p?.result === "already";
  const why = p && results[p.result];
  return (
    <>
      {intent.verb === "rerun" && intent.task !== undefined && (
        <SegmentedControl
          aria-label={t("act.scope")}
          data={scopes.map((s) => ({ value: s.value, label: t(s.word) }))}
          value={scope ?? "downstream"}
          onChange={(v) => setScope(scopes.find((s) => s.value === v)?.value)}
        />
      )}
      {intent.verb === "force_success" && <p className="faint">{t("act.forceHint")}</p>}
      {preview.isError && <ErrorView error={preview.error} retry={() => void preview.refetch()} />}
      {preview.isPending && <SkeletonRows rows={3} />}
      {moved && <Moved error={act.error} />}
      {p && !possible && <p className="warning">{why ? t(why) : t("act.impossible", { result: p.result })}</p>}
      {p && possible && <Touched p={p} />}
      {act.isError && !moved && <ErrorView error={act.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button disabled={!possible || preview.isFetching} loading={act.isPending} onClick={() => act.mutate(moved)}>
          {verb}
        </Button>
      </div>
    </>
  );
}

function isStale(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 409 && error.fields.some((f) => f.field === "preview" && f.code === "stale");
}

/** Moved says what has happened since the list was made; the new list stands below it. */
function Moved({ error }: { error: unknown }) {
  const { t } = useSay();
  const fields = error instanceof ApiError ? error.fields.filter((f) => f.code === "moved") : [];
  return (
    <div className="moved" role="alert">
      <strong>{t("act.moved")}</strong>
      <ul>
        {fields.map((f, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: one task may have moved twice
          <li key={i}>
            {f.field === "instance" ? t("act.theInstance") : f.field}: {word(t, "state", f.value ?? "")}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Touched({ p }: { p: Preview }) {
  const { t } = useSay();
  return (
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
          {p.tasks.length > maxListed && <li>{t("act.listedMore", { count: p.tasks.length - maxListed })}</li>}
        </ul>
      )}
      {p.kept > 0 && <p className="faint">{t("act.kept", { count: p.kept })}</p>}
    </>
  );
}
