import { useNavigate } from "@tanstack/react-router";
import { CalendarClock } from "lucide-react";
import type { ScheduleAt } from "../api/schedules";
import { useSay } from "../i18n";
import { Guarded } from "../parts/Guarded";
import { useWhyNot } from "../shell/me";

/** BackfillButton opens the form of a backfill for days of a schedule's calendar. */
export function BackfillButton({ at, from, to }: { at: ScheduleAt; from: string; to: string }) {
  const { t } = useSay();
  const go = useNavigate();
  const why = useWhyNot(at.project)("operator");
  const { schedule, ...of } = at;
  const open = () =>
    void go({ to: "/p/$project/w/$workflow", params: of, search: { tab: "backfills", new: "1", by: schedule, first: from, last: to } });
  return (
    <Guarded variant="default" leftSection={<CalendarClock size={14} />} why={why} onClick={open}>
      {from === to ? t("backfills.ofDay") : t("backfills.ofDays", { from, to })}
    </Guarded>
  );
}
