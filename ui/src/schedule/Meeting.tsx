import type { components } from "../api/schema";
import { duration } from "../domain/format";
import type { overlaps } from "../domain/schedule/draft";
import { tooClose } from "../domain/schedule/fire";
import { useSay } from "../i18n";
import { StateIcon } from "../parts/StateIcon";

interface Props {
  of: Pick<components["schemas"]["SchedulePreview"], "next" | "median_ms" | "samples">;
  overlap: (typeof overlaps)[number];
}

/** Meeting warns that instances usually take longer than the time between two fires, and says what then becomes of a fire. */
export function Meeting({ of, overlap }: Props) {
  const { t } = useSay();
  const gap = tooClose(of.next, of.median_ms);
  if (gap === undefined) return null;
  const known = t("schedules.meet", { gap: duration(gap), took: duration(of.median_ms ?? 0), count: of.samples ?? 0 });
  return (
    <p className="warning meeting" role="status">
      <StateIcon state="late" size={14} />
      <span>
        {known} {t(`schedules.meet.${overlap}`)}
      </span>
    </p>
  );
}
