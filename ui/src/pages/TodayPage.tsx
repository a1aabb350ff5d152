import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { FirstSteps } from "../account/FirstSteps";
import { instancesQuery, mastersQuery, workersQuery } from "../api/queries";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { SkeletonRows } from "../parts/ErrorView";
import { InstanceTable } from "../parts/InstanceTable";
import { Failures, useFailures } from "../today/Failures";
import { Fires } from "../today/Fires";
import { Stuck } from "../today/Stuck";
import "../today/today.css";

/** examples is the project of the product itself: what fails there is meant to. */
const examples = "examples";
const going = "running,submitted,serial_wait,pausing,paused,stopping";

export function TodayPage() {
  const { t } = useSay();
  const hour = Math.floor(useNow(false) / 3_600_000) * 3_600_000;
  const from = useMemo(() => new Date(hour - 86_400_000).toISOString(), [hour]);
  const failed = useFailures(from, "no");
  const running = useInfiniteQuery(instancesQuery({ state: going, outline: true }, 20));
  const latest = useInfiniteQuery(instancesQuery({ outline: true }, 10));
  const live = running.data?.pages[0]?.items ?? [];
  const last = latest.data?.pages[0]?.items ?? [];
  const steps = latest.isSuccess && failed.isSuccess && <FirstSteps latest={last} failed={failed.items?.at(-1)} />;
  // Once work of one's own has failed, that is what the page is for.
  const troubled = failed.items?.some((i) => i.project !== examples);
  return (
    <div className="page">
      <div className="title-row">
        <h1>{t("today.title")}</h1>
        <ClusterLine />
      </div>
      {!troubled && steps}
      <Failures from={from} />
      {troubled && steps}
      <Stuck />
      <section>
        <h2>{t("today.running")}</h2>
        {running.isPending ? (
          <SkeletonRows />
        ) : live.length === 0 ? (
          <p className="calm">{t("today.noRunning")}</p>
        ) : (
          <InstanceTable items={live} label={t("today.running")} />
        )}
      </section>
      <Fires />
      {last.length > 0 && (
        <section>
          <h2>
            {t("today.finished")}
            <Link className="more" to="/runs" search={{ span: "any" }}>
              {t("today.more")}
            </Link>
          </h2>
          <InstanceTable items={last} label={t("today.finished")} />
        </section>
      )}
    </div>
  );
}

function ClusterLine() {
  const { t } = useSay();
  const masters = useQuery(mastersQuery);
  const workers = useQuery(workersQuery);
  if (!masters.data || !workers.data) return null;
  const n = workers.data.items.length;
  if (n === 0) return <p className="warning">{t("today.noWorker")}</p>;
  return (
    <p className="faint">
      {t("today.cluster", {
        masters: t("today.masters", { count: masters.data.items.length }),
        workers: t("today.workers", { count: n }),
        slots: workers.data.items.reduce((sum, w) => sum + (w.slots ?? 0), 0),
      })}
    </p>
  );
}
