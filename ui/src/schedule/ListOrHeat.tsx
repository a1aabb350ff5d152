import { SegmentedControl } from "@mantine/core";
import { Suspense } from "react";
import { useSay } from "../i18n";
import { SkeletonRows } from "../parts/ErrorView";
import { piece } from "../parts/piece";
import type { HeatSearch } from "../searchSchedule";

const ScheduleHeat = piece(() => import("./ScheduleHeat").then((m) => m.ScheduleHeat));

interface Props {
  project?: string;
  search: HeatSearch;
  set: (part: HeatSearch, replace?: boolean) => void;
  children: React.ReactNode; // the list
}

/** ListOrHeat shows schedules as their list, or by the hours that they fire in. */
export function ListOrHeat({ project, search, set, children }: Props) {
  const { t } = useSay();
  const heat = search.heat !== undefined;
  return (
    <>
      <div className="list-or-heat">
        <SegmentedControl
          aria-label={t("heat.as")}
          value={heat ? "heat" : "list"}
          onChange={(v) => set(v === "heat" ? { heat: "map" } : { heat: undefined, week: undefined, hour: undefined, num: undefined })}
          data={[
            { value: "list", label: t("heat.list") },
            { value: "heat", label: t("heat.title") },
          ]}
        />
      </div>
      {heat ? (
        <Suspense fallback={<SkeletonRows rows={8} />}>
          <ScheduleHeat project={project} search={search} set={set} />
        </Suspense>
      ) : (
        children
      )}
    </>
  );
}
