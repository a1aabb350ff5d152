import { Button, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Schedule, type Switch, switchSchedules } from "../api/schedules";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { useReread } from "./useReread";

interface Props {
  project: string;
  workflow?: string;
  text?: string; // a part of the names
  these?: Schedule[]; // of which a filter has to do with what only the page knows
  verb: Switch | undefined; // the dialog is closed without
  onClose: () => void;
}

/** BulkSwitch pauses or resumes all that the filter wants, once it has said how many those are. */
export function BulkSwitch({ verb, onClose, ...filter }: Props) {
  const { t } = useSay();
  const title = verb === "resume" ? t("schedules.bulkResumeTitle") : t("schedules.bulkPauseTitle");
  return (
    <Modal opened={verb !== undefined} onClose={onClose} title={title}>
      {verb && <Body key={verb} verb={verb} onClose={onClose} {...filter} />}
    </Modal>
  );
}

function Body({ project, workflow, text, these, verb, onClose }: Props & { verb: Switch }) {
  const { t } = useSay();
  const reread = useReread();
  const [reason, setReason] = useState("");
  // What was shown as the dialog opened is what it is about.
  const [ids] = useState(() => these?.map((s) => s.id));
  const filter = { workflow, q: text, ...(ids && { ids }) };
  const count = useQuery({
    queryKey: ["schedules", "switch", project, verb, workflow ?? "", text ?? "", ids ?? []],
    queryFn: () => switchSchedules(project, verb, { ...filter, preview: true }),
    gcTime: 0,
  });
  const act = useMutation({
    mutationFn: () => switchSchedules(project, verb, { ...filter, ...(verb === "pause" && { reason }) }),
    onSuccess: (got) => {
      notifications.show({ message: t("schedules.bulkDone", { count: got.changed }), autoClose: 3000, withCloseButton: false });
      reread();
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    act.mutate();
  };
  const which = [
    workflow === undefined ? t("schedules.bulkEvery", { project }) : t("schedules.bulkOf", { workflow }),
    text === undefined ? "" : t("schedules.bulkMatch", { text }),
    these === undefined ? "" : t("schedules.bulkBad"),
  ];
  const n = count.data?.matched ?? 0;
  return (
    <form className="stack" onSubmit={submit}>
      <p className="faint">{which.filter((x) => x !== "").join(" ")}</p>
      {count.isError ? (
        <ErrorView error={count.error} retry={() => void count.refetch()} />
      ) : count.isPending ? (
        <SkeletonRows rows={1} />
      ) : (
        <p role="status">{verb === "pause" ? t("schedules.bulkPause", { count: n }) : t("schedules.bulkResume", { count: n })}</p>
      )}
      {verb === "pause" && (
        <TextInput
          label={t("schedules.reason")}
          description={t("schedules.reasonHint")}
          maxLength={500}
          autoComplete="off"
          value={reason}
          onChange={(e) => setReason(e.currentTarget.value)}
          data-autofocus
        />
      )}
      <FormError error={act.error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={act.isPending} disabled={!count.isSuccess || n === 0}>
          {verb === "pause" ? t("schedules.pause") : t("schedules.resume")}
        </Button>
      </div>
    </form>
  );
}
