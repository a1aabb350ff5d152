import { Button } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { type FormEvent, useMemo, useState } from "react";
import { ApiError } from "../api/error";
import { nextFiresQuery, type Schedule, saveSchedule } from "../api/schedules";
import { wrongFields } from "../domain/problem";
import { type Draft, documentOf, draftOf, fresh } from "../domain/schedule/draft";
import { byClock } from "../domain/schedule/when";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Drawer } from "../parts/layers";
import { settings } from "../settings";
import { DayFields, LateFields, NameFields, StartFields } from "./Fields";
import type { Wrong } from "./fieldProps";
import { NextFires } from "./NextFires";
import { useReread } from "./useReread";
import { WhenFields } from "./WhenFields";
import "@mantine/core/styles/Drawer.css";
import "./schedule.css";

interface Props {
  opened: boolean;
  project: string;
  workflow?: string; // a new one is of this
  schedule?: Schedule; // that is changed; without it a new one is made
  onClose: () => void;
}

/** ScheduleDrawer makes a schedule or changes one, and shows beside it what the server makes of it. */
export function ScheduleDrawer({ opened, schedule, onClose, ...of }: Props) {
  const { t } = useSay();
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="min(880px, 100%)"
      title={schedule ? t("schedules.editTitle", { name: schedule.name }) : t("schedules.newTitle")}
      // What was entered must not go by a click beside it.
      closeOnClickOutside={false}
      classNames={{ title: "drawer-title" }}
    >
      {opened && <Body schedule={schedule} onClose={onClose} {...of} />}
    </Drawer>
  );
}

/** Wrong gives what is wrong with a field of the document, or with anything in it. */
export function Body({ project, workflow, schedule, onClose }: Omit<Props, "opened">) {
  const { t } = useSay();
  const reread = useReread();
  // What was opened is what is changed: news of it must not write over what is being typed, and its revision refuses to.
  const [was] = useState(schedule);
  const [draft, change] = useState(() => (was ? draftOf(was) : fresh(workflow ?? "", ownZone())));
  const set = (part: Partial<Draft>) => change((d) => ({ ...d, ...part }));
  const [asked] = useDebouncedValue(draft, 300);
  const body = useMemo(() => ({ ...documentOf(asked, was), workflow: asked.workflow || undefined, id: was?.id, n: 6 }), [asked, was]);
  const preview = useQuery(nextFiresQuery(project, body));
  const save = useMutation({
    mutationFn: () => {
      const at = { project, workflow: draft.workflow, schedule: was?.name ?? draft.name.trim() };
      return saveSchedule(at, documentOf(draft, was), was?.revision);
    },
    onSuccess: (s) => {
      notifications.show({ message: t("schedules.saved", { name: s.name }), autoClose: 3000, withCloseButton: false });
      reread();
      onClose();
    },
  });
  // What the save refuses is marked like what the preview found, until something is changed.
  const found = { ...wrongFields(save.error, t), ...(asked === draft ? wrongFields(preview.error, t) : {}) };
  const wrong: Wrong = (field) =>
    found[field] ?? Object.entries(found).find(([name]) => name.startsWith(`${field}[`) || name.startsWith(`${field}.`))?.[1];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  const column = [preview.error, save.error]
    .flatMap((e) => (e instanceof ApiError ? e.fields : []))
    .find((f) => f.field === "cron" && f.column !== undefined)?.column;
  const fields = { draft, set, wrong, project };
  return (
    <form className="schedule-form" onSubmit={submit}>
      <div className="schedule-fields">
        {!was && <NameFields {...fields} fixed={workflow} />}
        <WhenFields {...fields} column={asked === draft ? column : undefined} />
        {byClock(draft.when) && <DayFields {...fields} />}
        <LateFields {...fields} />
        <StartFields {...fields} />
      </div>
      <aside className="schedule-preview" aria-label={t("schedules.nextFires")}>
        <NextFires
          preview={preview.data}
          pending={asked !== draft || preview.isFetching}
          failed={preview.isError}
          kind={draft.when.kind}
          id={was?.id}
          secret={draft.when.secret}
          overlap={draft.overlap}
        />
      </aside>
      <div className="schedule-end">
        <Refused error={save.error} marked={Object.keys(wrongFields(save.error, t)).length > 0} />
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {was ? t("schedules.save") : t("schedules.create")}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Refused says why a save was, where no field does. */
function Refused({ error, marked }: { error: unknown; marked: boolean }) {
  const { t } = useSay();
  const status = error instanceof ApiError ? error.status : 0;
  const known = status === 412 ? t("schedules.stale") : status === 428 ? t("schedules.taken") : undefined;
  if (known !== undefined)
    return (
      <p className="form-error" role="alert">
        {known}
      </p>
    );
  // Each field that is wrong says so itself; one that has no place here is told whole.
  if (marked && error instanceof ApiError && error.fields.every((f) => placed.test(f.field))) return null;
  return <FormError error={error} />;
}

const placed = /^(schedule$|cron|at\b|after|webhook|timezone|start$|end$|calendar|jitter|misfire|params\.|worker_group)/;

/** ownZone is the one that the person reads times in. */
function ownZone(): string {
  const { zone } = settings();
  return zone === "browser" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}
