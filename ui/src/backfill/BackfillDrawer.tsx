import { Button, NumberInput, Select } from "@mantine/core";
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pause, Play, RotateCw, X } from "lucide-react";
import { useState } from "react";
import {
  type Backfill,
  type BackfillDate,
  backfillDatesQuery,
  backfillQuery,
  cancelBackfill,
  type DateState,
  type OfWorkflow,
  pauseBackfill,
  readFailedDates,
  resumeBackfill,
  widenBackfill,
} from "../api/backfills";
import { millis, moment } from "../domain/format";
import { businessDate } from "../domain/schedule/dates";
import { useSay, word } from "../i18n";
import { BulkDialog, type BulkIntent, type BulkTarget } from "../instance/list/BulkDialog";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Guarded } from "../parts/Guarded";
import { Drawer, Modal } from "../parts/layers";
import { StateIcon, StateWord } from "../parts/StateIcon";
import { useWhyNot } from "../shell/me";
import { Bar } from "./Bar";
import { rangeOf } from "./range";
import "@mantine/core/styles/Drawer.css";

const states: DateState[] = ["waiting", "running", "stopping", "success", "failed", "cancelled"];

interface Props {
  of: OfWorkflow;
  id: string | undefined; // the drawer is closed without
  onClose: () => void;
}

/** BackfillDrawer is one backfill as it goes: its progress, its dates, and what can be done with it. */
export function BackfillDrawer({ of, id, onClose }: Props) {
  const { t } = useSay();
  return (
    <Drawer
      opened={id !== undefined}
      onClose={onClose}
      position="right"
      size="min(720px, 100%)"
      title={t("backfills.one", { id: id ?? "" })}
      classNames={{ title: "drawer-title" }}
    >
      {id !== undefined && <Body of={of} id={id} />}
    </Drawer>
  );
}

function Body({ of, id }: { of: OfWorkflow; id: string }) {
  const { t } = useSay();
  const one = useQuery(backfillQuery(of, id));
  if (one.isError) return <ErrorView error={one.error} retry={() => void one.refetch()} />;
  if (one.isPending) return <SkeletonRows rows={6} />;
  const b = one.data;
  const facts = [
    rangeOf(t, b),
    b.timezone ?? "UTC",
    t(`backfills.order.${b.order ?? "oldest"}`),
    b.only && b.only !== "all" && t(`backfills.only.${b.only}`),
    b.changed_by && t("backfills.changedBy", { name: b.changed_by }),
  ];
  return (
    <div className="stack">
      <p className="backfill-state">
        <StateWord state={b.state} size={16} />
        <Bar b={b} />
      </p>
      <p className="faint num">{facts.filter(Boolean).join(t("grid.comma"))}</p>
      <Acts b={b} of={of} />
      <DateList of={of} b={b} />
    </div>
  );
}

function Acts({ b, of }: { b: Backfill; of: OfWorkflow }) {
  const { t } = useSay();
  const client = useQueryClient();
  const why = useWhyNot(of.project)("operator");
  const [asking, ask] = useState(false);
  const [parallel, setParallel] = useState(b.parallel);
  const act = useMutation({
    mutationFn: (wish: () => Promise<Backfill>) => wish(),
    onSuccess: () => {
      ask(false);
      void client.invalidateQueries({ queryKey: ["backfills"] });
    },
  });
  const goes = b.state === "running" || b.state === "paused";
  if (!goes) return null;
  return (
    <>
      <div className="backfill-acts">
        {b.state === "running" ? (
          <Guarded variant="default" leftSection={<Pause size={14} />} why={why} onClick={() => act.mutate(() => pauseBackfill(of, b.id))}>
            {t("backfills.pause")}
          </Guarded>
        ) : (
          <Guarded leftSection={<Play size={14} />} why={why} onClick={() => act.mutate(() => resumeBackfill(of, b.id))}>
            {t("backfills.resume")}
          </Guarded>
        )}
        <Guarded variant="default" leftSection={<X size={14} />} why={why} onClick={() => ask(true)}>
          {t("backfills.cancel")}
        </Guarded>
        <span className="push backfill-acts">
          <NumberInput
            size="xs"
            w={64}
            min={1}
            max={100}
            allowDecimal={false}
            aria-label={t("backfills.atOnce")}
            title={t("backfills.atOnce")}
            value={parallel}
            onChange={(n) => setParallel(Math.max(1, Number(n) || 1))}
            hideControls
          />
          <Guarded
            variant="default"
            why={why}
            disabled={why === undefined && parallel === b.parallel}
            onClick={() => act.mutate(() => widenBackfill(of, b.id, parallel))}
          >
            {t("backfills.apply")}
          </Guarded>
        </span>
      </div>
      <FormError error={act.error} />
      <Modal opened={asking} onClose={() => ask(false)} title={t("backfills.cancelTitle", { id: b.id })}>
        <div className="stack">
          <p>{t("backfills.cancelAsk", { count: b.progress.waiting })}</p>
          <FormError error={act.error} />
          <div className="dialog-end">
            <Button variant="default" onClick={() => ask(false)} data-autofocus>
              {t("backfills.keep")}
            </Button>
            {b.progress.running > 0 && (
              <Button variant="default" loading={act.isPending} onClick={() => act.mutate(() => cancelBackfill(of, b.id, "stop"))}>
                {t("backfills.cancelStop")}
              </Button>
            )}
            <Button loading={act.isPending} onClick={() => act.mutate(() => cancelBackfill(of, b.id, "leave"))}>
              {b.progress.running > 0 ? t("backfills.cancelLeave") : t("backfills.cancel")}
            </Button>
          </div>
        </div>
      </Modal>
    </>
  );
}

function DateList({ of, b }: { of: OfWorkflow; b: Backfill }) {
  const { t } = useSay();
  const zone = b.timezone ?? "UTC";
  const [state, filter] = useState<DateState>();
  const dates = useInfiniteQuery(backfillDatesQuery(of, b.id, state, b.active));
  const rows = dates.data?.pages.flatMap((p) => p.items) ?? [];
  const several = rows.some((d) => d.workflow !== of.workflow || d.project !== of.project);
  return (
    <>
      <div className="backfill-acts">
        <Select
          w={180}
          aria-label={t("backfills.filter")}
          data={[{ value: "", label: t("backfills.filterAll") }, ...states.map((s) => ({ value: s, label: word(t, "state", s) }))]}
          value={state ?? ""}
          onChange={(v) => filter(states.find((s) => s === v))}
        />
        {b.progress.failed > 0 && <RecoverFailed of={of} b={b} />}
      </div>
      {dates.isError ? (
        <ErrorView error={dates.error} retry={() => void dates.refetch()} />
      ) : dates.isPending ? (
        <SkeletonRows />
      ) : rows.length === 0 ? (
        <p className="empty">{t("backfills.noDates")}</p>
      ) : (
        <>
          <Cells rows={rows} zone={zone} />
          <table className="plain backfill-dates">
            <thead>
              <tr>
                <th>{t("backfills.date")}</th>
                <th>{t("backfills.businessDate")}</th>
                <th>{t("backfills.state")}</th>
                <th>{t("backfills.instance")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((d) => (
                <tr key={`${d.project}/${d.workflow} ${d.schedule_time}`}>
                  <td className="num">
                    <DateWords at={d.schedule_time} zone={zone} />
                    {several && <span className="faint"> {d.workflow}</span>}
                  </td>
                  <td className="num faint">{businessDate(millis(d.schedule_time) ?? 0, zone)}</td>
                  <td>
                    <StateWord state={d.state} size={14} />
                  </td>
                  <td>
                    {d.instance_id ? (
                      <Link to="/p/$project/r/$id" params={{ project: d.project, id: d.instance_id }} className="mono">
                        {d.instance_id}
                      </Link>
                    ) : (
                      <span className="faint">–</span>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
      {dates.hasNextPage && (
        <Button variant="default" loading={dates.isFetchingNextPage} onClick={() => void dates.fetchNextPage()}>
          {t("backfills.more")}
        </Button>
      )}
    </>
  );
}

/** Cells are the dates by state, a square each, which leads to its instance. */
function Cells({ rows, zone }: { rows: BackfillDate[]; zone: string }) {
  const { t } = useSay();
  return (
    <ul className="date-cells" aria-label={t("backfills.cells")}>
      {rows.map((d) => {
        const label = `${moment(millis(d.schedule_time) ?? 0, zone).replace(/ 00:00:00 .*$/, "")} ${d.workflow}: ${word(t, "state", d.state)}`;
        return (
          <li key={`${d.project}/${d.workflow} ${d.schedule_time}`} title={label}>
            {d.instance_id ? (
              <Link to="/p/$project/r/$id" params={{ project: d.project, id: d.instance_id }} aria-label={label}>
                <StateIcon state={d.state} size={16} />
              </Link>
            ) : (
              <StateIcon state={d.state} size={16} label={label} />
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** RecoverFailed runs the failed tasks of all dates that failed again, once somebody has agreed to the list. */
function RecoverFailed({ of, b }: { of: OfWorkflow; b: Backfill }) {
  const { t } = useSay();
  const client = useQueryClient();
  const why = useWhyNot(of.project)("operator");
  const [intent, intend] = useState<BulkIntent>();
  const read = useMutation({
    mutationFn: () => readFailedDates(of, b.id),
    onSuccess: (dates) => intend({ verb: "recover", force: false, rows: dates.flatMap(targetOf) }),
  });
  return (
    <>
      <Guarded variant="default" leftSection={<RotateCw size={14} />} why={why} loading={read.isPending} onClick={() => read.mutate()}>
        {t("backfills.recoverFailed", { count: b.progress.failed })}
      </Guarded>
      <FormError error={read.error} />
      <BulkDialog
        intent={intent}
        onClose={() => {
          intend(undefined);
          void client.invalidateQueries({ queryKey: ["backfills"] });
        }}
      />
    </>
  );
}

function targetOf(d: BackfillDate): BulkTarget[] {
  if (!d.instance_id || !d.round || !d.instance_state) return [];
  return [{ id: d.instance_id, round: d.round, state: d.instance_state, project: d.project, workflow: d.workflow }];
}

/** DateWords is a date by the backfill's calendar: of a midnight the date alone. */
function DateWords({ at, zone }: { at: string; zone: string }) {
  const full = moment(millis(at) ?? 0, zone);
  return (
    <time dateTime={at} title={full}>
      {full.replace(/ 00:00:00 .*$/, "")}
    </time>
  );
}
