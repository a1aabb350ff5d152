import { Button, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Fire, leftOutQuery, maxRun, runFires, type ScheduleAt } from "../api/schedules";
import { millis, moment } from "../domain/format";
import { useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { useReread } from "./useReread";
import { reasonWords } from "./words";

interface Props {
  at: ScheduleAt;
  zone: string;
  run: string | undefined; // a moment, or "missed" for all of the stretch; the dialog is closed without
  from: string;
  to: string;
  onClose: () => void;
}

/** RunFires starts the instances of fires that started none, once it has shown which those are. */
export function RunFires({ run, onClose, ...of }: Props) {
  const { t } = useSay();
  return (
    <Modal
      opened={run !== undefined}
      onClose={onClose}
      size="lg"
      // Above the drawer of a day, out of which it opens.
      zIndex={300}
      title={run === "missed" ? t("ledger.runTitle") : t("ledger.runOneTitle")}
    >
      {run !== undefined && <Body key={run} run={run} onClose={onClose} {...of} />}
    </Modal>
  );
}

function Body({ at, zone, run, from, to, onClose }: Props & { run: string }) {
  const { t } = useSay();
  const reread = useReread();
  const [skipped, setSkipped] = useState(false);
  // One moment is a stretch of a millisecond, whatever became of it.
  const one = run === "missed" ? undefined : Date.parse(run);
  const [since, until] = one === undefined ? [from, to] : [new Date(one).toISOString(), new Date(one + 1).toISOString()];
  const found = useQuery(leftOutQuery(at, since, until, skipped || one !== undefined));
  const act = useMutation({
    mutationFn: (moments: string[]) => runFires(at, moments),
    onSuccess: (got) => {
      const count = got.fires.filter((f) => f.started).length;
      notifications.show({ message: t("ledger.ran", { count }), autoClose: 3000, withCloseButton: false });
      onClose();
    },
    // Some may have run meanwhile: what is shown is what there is.
    onSettled: reread,
  });
  const all = found.data ?? [];
  const fires = all.slice(0, maxRun);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act.mutate(fires.map((f) => f.at));
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("ledger.runAbout")}</p>
      {one === undefined && (
        <Switch label={t("ledger.runSkipped")} checked={skipped} onChange={(e) => setSkipped(e.currentTarget.checked)} />
      )}
      {found.isError ? (
        <ErrorView error={found.error} retry={() => void found.refetch()} />
      ) : found.isPending ? (
        <SkeletonRows rows={3} />
      ) : fires.length === 0 ? (
        <p className="empty">{t("ledger.runNone")}</p>
      ) : (
        <List fires={fires} zone={zone} />
      )}
      {all.length > maxRun && <p className="warning">{t("ledger.runMore", { count: maxRun })}</p>}
      <FormError error={act.error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={act.isPending} disabled={!found.isSuccess || fires.length === 0}>
          {t("ledger.run", { count: fires.length })}
        </Button>
      </div>
    </form>
  );
}

function List({ fires, zone }: { fires: Fire[]; zone: string }) {
  const { t } = useSay();
  return (
    <div className="run-list" tabIndex={0} role="group" aria-label={t("ledger.title")}>
      <ol>
        {fires.map((f) => (
          <li key={f.at}>
            <span className="num">{moment(millis(f.at) ?? 0, zone)}</span>{" "}
            <span className="faint">
              {word(t, "state", f.state)}
              {f.reason && `: ${reasonWords(t, f.reason)}`}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
