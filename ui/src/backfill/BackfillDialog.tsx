import { Button, NumberInput, SegmentedControl, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type BackfillPlan, type OfWorkflow, previewBackfill, startBackfill } from "../api/backfills";
import { ApiError } from "../api/error";
import { type Schedule, scheduleQuery } from "../api/schedules";
import { wrongFields } from "../domain/problem";
import { type Dates, datesOf, failures, fresh, fromSchedule, onlys, orders, steps } from "../domain/schedule/dates";
import { type Moved, movedOf } from "../domain/schedule/plan";
import { type Say, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { ParamFields } from "../schedule/ParamFields";
import { settings } from "../settings";
import { everyZone } from "../shell/Preferences";
import { Plan } from "./Plan";

/** Wish is what it begins with. */
interface Wish {
  by?: string; // a schedule of the workflow, whose dates and parameters they are
  from?: string; // days
  to?: string;
  downstream: boolean;
}

interface Props extends Wish {
  of: OfWorkflow;
  opened: boolean;
  onClose: () => void;
  onStarted: (id: string) => void;
}

/** BackfillDialog asks for the dates, shows the plan that the server makes of them, and starts that very plan. */
export function BackfillDialog({ of, opened, onClose, onStarted, by, ...wish }: Props) {
  const { t } = useSay();
  return (
    <Modal opened={opened} onClose={onClose} size="lg" title={t("backfills.title", { workflow: of.workflow })} closeOnClickOutside={false}>
      {!opened ? null : by === undefined ? (
        <Body of={of} onClose={onClose} onStarted={onStarted} {...wish} />
      ) : (
        <BySchedule of={of} onClose={onClose} onStarted={onStarted} by={by} {...wish} />
      )}
    </Modal>
  );
}

/** BySchedule waits for the schedule: what it begins with is not taken back while somebody types. */
function BySchedule({ by, ...rest }: Omit<Props, "opened"> & { by: string }) {
  const schedule = useQuery(scheduleQuery({ ...rest.of, schedule: by }));
  if (schedule.isError) return <ErrorView error={schedule.error} retry={() => void schedule.refetch()} />;
  if (schedule.isPending) return <SkeletonRows />;
  return <Body schedule={schedule.data} {...rest} />;
}

/** staleWords say how the plan differs from the one that was looked at. */
function staleWords(t: Say, { more, fewer, versions }: Moved): string {
  const parts = [
    more > 0 && t("backfills.staleMore", { count: more }),
    fewer > 0 && t("backfills.staleFewer", { count: fewer }),
    versions > 0 && t("backfills.staleVersions", { count: versions }),
  ].filter(Boolean);
  return [...parts, t("backfills.stale")].join(" ");
}

function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.status === 409;
}

function Body({
  of,
  onClose,
  onStarted,
  schedule,
  from = "",
  to = "",
  downstream,
}: Omit<Props, "opened" | "by"> & { schedule?: Schedule }) {
  const { t } = useSay();
  const client = useQueryClient();
  const [draft, change] = useState<Dates>(() => ({
    ...(schedule ? fromSchedule(schedule, from, to) : { ...fresh(ownZone()), from, to }),
    downstream,
  }));
  // The plan that was looked at, once the server has refused it for another.
  const [looked, setLooked] = useState<BackfillPlan>();
  const plan = useMutation({ mutationFn: () => previewBackfill(of, datesOf(draft)) });
  const start = useMutation({
    mutationFn: (token: string) => startBackfill(of, datesOf(draft), token),
    onSuccess: (made) => {
      notifications.show({ message: t("backfills.started", { count: made.count }), autoClose: 3000, withCloseButton: false });
      void client.invalidateQueries({ queryKey: ["backfills"] });
      onStarted(made.backfill_id);
    },
    // The plan is another one by now: it is shown before anybody is asked again.
    onError: (error) => {
      if (!isStale(error)) return;
      setLooked(plan.data);
      plan.mutate();
    },
  });
  const set = (part: Partial<Dates>) => {
    change({ ...draft, ...part });
    // A plan is of what was asked: what is changed has none yet.
    plan.reset();
    start.reset();
  };
  const found = { ...wrongFields(start.error, t), ...wrongFields(plan.error, t) };
  const wrong = (field: string) => found[field] ?? Object.entries(found).find(([name]) => name.startsWith(`${field}[`))?.[1];
  const error = plan.error ?? (isStale(start.error) ? null : start.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (plan.data) start.mutate(plan.data.token);
    else plan.mutate();
  };
  const count = plan.data?.count ?? 0;
  return (
    <form className="stack" onSubmit={submit}>
      {schedule && (
        <p className="faint">
          {t("backfills.bySchedule", { name: schedule.name })} {schedule.calendar && t("backfills.byCalendar")}
        </p>
      )}
      <DateFields draft={draft} set={set} wrong={wrong} />
      <div className="field-pair">
        <Select
          label={t("backfills.only")}
          data={onlys.map((x) => ({ value: x, label: t(`backfills.only.${x}`) }))}
          value={draft.only}
          onChange={(v) => set({ only: onlys.find((x) => x === v) ?? "all" })}
        />
        <Select
          label={t("backfills.order")}
          data={orders.map((x) => ({ value: x, label: t(`backfills.order.${x}`) }))}
          value={draft.order}
          onChange={(v) => set({ order: orders.find((x) => x === v) ?? "oldest" })}
          error={wrong("order")}
        />
        <NumberInput
          size="xs"
          label={t("backfills.parallel")}
          min={1}
          max={100}
          allowDecimal={false}
          value={draft.parallel}
          onChange={(n) => set({ parallel: Math.max(1, Number(n) || 1) })}
          error={wrong("parallel")}
          hideControls
        />
        <Select
          label={t("backfills.onFailure")}
          data={failures.map((x) => ({ value: x, label: t(`backfills.onFailure.${x}`) }))}
          value={draft.onFailure}
          onChange={(v) => set({ onFailure: failures.find((x) => x === v) ?? "continue" })}
        />
      </div>
      <Switch
        label={t("backfills.downstream")}
        description={t("backfills.downstreamHint")}
        checked={draft.downstream}
        onChange={(e) => set({ downstream: e.currentTarget.checked })}
      />
      <ParamFields {...of} values={draft.params} wrong={wrong} onChange={(params) => set({ params })} />
      {isStale(start.error) && (
        <p className="form-error" role="alert">
          {looked && plan.data ? staleWords(t, movedOf(looked, plan.data)) : t("backfills.stale")}
        </p>
      )}
      {plan.data && <Plan plan={plan.data} of={of} zone={draft.timezone} />}
      <FormError error={error} />
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={plan.isPending || start.isPending} disabled={plan.isSuccess && count === 0}>
          {plan.data && count > 0 ? t("backfills.start", { count }) : t("backfills.preview")}
        </Button>
      </div>
    </form>
  );
}

interface FieldProps {
  draft: Dates;
  set: (part: Partial<Dates>) => void;
  wrong: (field: string) => string | undefined;
}

function DateFields({ draft, set, wrong }: FieldProps) {
  const { t } = useSay();
  const zones = everyZone();
  return (
    <>
      <SegmentedControl
        aria-label={t("backfills.dates")}
        data={[
          { value: "range", label: t("backfills.asRange") },
          { value: "list", label: t("backfills.asList") },
        ]}
        value={draft.as}
        onChange={(v) => set({ as: v === "list" ? "list" : "range" })}
      />
      {draft.as === "range" ? (
        <div className="field-pair">
          <TextInput
            type="date"
            label={t("backfills.from")}
            value={draft.from}
            onChange={(e) => set({ from: e.currentTarget.value })}
            error={wrong("from")}
            required
            data-autofocus
          />
          <TextInput
            type="date"
            label={t("backfills.to")}
            value={draft.to}
            onChange={(e) => set({ to: e.currentTarget.value })}
            error={wrong("to")}
            required
          />
          <Select
            label={t("backfills.step")}
            data={steps.map((x) => ({ value: x, label: t(`backfills.step.${x}`) }))}
            value={draft.step}
            onChange={(v) => set({ step: steps.find((x) => x === v) ?? "1d" })}
          />
          {draft.step === "cron" && (
            <TextInput
              label={t("backfills.cron")}
              value={draft.cron}
              onChange={(e) => set({ cron: e.currentTarget.value })}
              error={wrong("cron")}
              classNames={{ input: "mono" }}
              spellCheck={false}
              autoComplete="off"
              required
            />
          )}
        </div>
      ) : (
        <Textarea
          label={t("backfills.dates")}
          description={t("backfills.listHint")}
          rows={5}
          value={draft.list}
          onChange={(e) => set({ list: e.currentTarget.value })}
          error={wrong("dates")}
          required
        />
      )}
      <Select
        label={t("schedules.timezone")}
        data={zones.includes(draft.timezone) ? zones : [draft.timezone, ...zones]}
        value={draft.timezone}
        onChange={(v) => set({ timezone: v ?? "UTC" })}
        error={wrong("timezone")}
        searchable
        limit={60}
      />
    </>
  );
}

function ownZone(): string {
  const { zone } = settings();
  return zone === "browser" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}
