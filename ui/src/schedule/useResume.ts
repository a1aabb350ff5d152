import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { resumeSchedule, type Schedule, type ScheduleAt } from "../api/schedules";
import { useSay } from "../i18n";
import { useReread } from "./useReread";

export function pathOf(s: Pick<Schedule, "project" | "workflow" | "name">): ScheduleAt {
  return { project: s.project, workflow: s.workflow, schedule: s.name };
}

/** tell says for a moment what was done. */
export function tell(message: string): void {
  notifications.show({ message, autoClose: 3000, withCloseButton: false });
}

/** useResume lets a schedule fire again: it asks nothing, since it takes nothing away. */
export function useResume() {
  const { t } = useSay();
  const reread = useReread();
  return useMutation({
    mutationFn: (s: Schedule) => resumeSchedule(pathOf(s)),
    onSuccess: (s) => {
      tell(t("schedules.resumed", { name: s.name }));
      reread();
    },
  });
}
