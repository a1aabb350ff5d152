import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { deleteSchedule, pauseSchedule, type Schedule, triggerSchedule } from "../api/schedules";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { TypedDelete } from "../parts/TypedDelete";
import type { ScheduleAct } from "../searchSchedule";
import { ScheduleDrawer } from "./ScheduleDrawer";
import { useReread } from "./useReread";
import { pathOf, tell } from "./useResume";

interface Props {
  schedule: Schedule;
  act: ScheduleAct | undefined;
  onClose: () => void;
  onDeleted?: () => void;
}

/** ScheduleActs are the dialogs about one schedule. */
export function ScheduleActs({ schedule, act, onClose, onDeleted }: Props) {
  const { t } = useSay();
  const client = useQueryClient();
  return (
    <>
      <ScheduleDrawer
        opened={act === "edit"}
        project={schedule.project}
        workflow={schedule.workflow}
        schedule={schedule}
        onClose={onClose}
      />
      <Modal opened={act === "pause"} onClose={onClose} title={t("schedules.pauseTitle", { name: schedule.name })}>
        <Pause schedule={schedule} onClose={onClose} />
      </Modal>
      <Modal opened={act === "trigger"} onClose={onClose} title={t("schedules.triggerTitle", { name: schedule.name })}>
        <Trigger schedule={schedule} onClose={onClose} />
      </Modal>
      <TypedDelete
        name={act === "delete" ? schedule.name : undefined}
        about={t("schedules.deleteAsk")}
        remove={() => deleteSchedule(pathOf(schedule))}
        onClose={onClose}
        onDone={(name) => {
          tell(t("schedules.deleted", { name }));
          onClose();
          onDeleted?.();
          // Its own page, which is being left, must not ask for what is gone.
          void client.invalidateQueries({ queryKey: ["schedules"] });
        }}
      />
    </>
  );
}

function Pause({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { t } = useSay();
  const reread = useReread();
  const pause = useMutation({
    mutationFn: (reason: string) => pauseSchedule(pathOf(schedule), reason),
    onSuccess: (s) => {
      tell(t("schedules.paused", { name: s.name }));
      reread();
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    pause.mutate(String(new FormData(event.currentTarget).get("reason")).trim());
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("schedules.pauseAsk")}</p>
      <TextInput
        name="reason"
        label={t("schedules.reason")}
        description={t("schedules.reasonHint")}
        maxLength={500}
        autoComplete="off"
        data-autofocus
      />
      <FormError error={pause.error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={pause.isPending}>
          {t("schedules.pause")}
        </Button>
      </div>
    </form>
  );
}

function Trigger({ schedule, onClose }: { schedule: Schedule; onClose: () => void }) {
  const { t } = useSay();
  const go = useNavigate();
  const trigger = useMutation({
    mutationFn: () => triggerSchedule(pathOf(schedule)),
    onSuccess: (got) => void go({ to: "/p/$project/r/$id", params: { project: schedule.project, id: got.instance_id } }),
  });
  return (
    <div className="stack">
      <p>{t("schedules.triggerAsk", { workflow: schedule.workflow })}</p>
      <FormError error={trigger.error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button loading={trigger.isPending} onClick={() => trigger.mutate()} data-autofocus>
          {t("schedules.trigger")}
        </Button>
      </div>
    </div>
  );
}
