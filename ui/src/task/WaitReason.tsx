import type { LiveTask } from "../api/tasks";
import { useSay } from "../i18n";
import { sentence } from "../instance/Why";
import { useNow } from "../live/clock";
import { reasonsOf } from "./reason";

/** WaitReason says in words why a task waits. */
export function WaitReason({ task }: { task: LiveTask }) {
  const { t } = useSay();
  const now = useNow(task.next_at !== undefined);
  if (!task.why) return <span className="faint">{t("tasks.moving")}</span>;
  const text = reasonsOf(task.why)
    .map((e) => sentence(t, e, now) || e.text)
    .join("; ");
  return <span title={text}>{text}</span>;
}
