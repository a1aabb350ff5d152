import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { instancesQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Failed } from "./Failed";

const route = getRouteApi("/");

/** read is how many failures are looked at: those alike are one line on Today. */
const read = 50;

/** useFailures are failures since a moment that somebody has acknowledged, or nobody. */
export function useFailures(from: string, acknowledged: "yes" | "no", enabled = true) {
  const list = useInfiniteQuery({ ...instancesQuery({ state: "failed,quarantined", from, acknowledged, outline: true }, read), enabled });
  const items = list.data?.pages.flatMap((p) => p.items).slice(0, read);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  // A page may be short, even empty, with more behind it: the server looks into a bounded number of rows for each.
  const short = items !== undefined && items.length < read && hasNextPage && !isFetchingNextPage && !list.isError;
  useEffect(() => {
    if (short) void fetchNextPage();
  }, [short, fetchNextPage]);
  return { ...list, items };
}

/** Failures are those that nobody looks after yet, and, where they are asked for, those that somebody does. */
export function Failures({ from }: { from: string }) {
  const { t } = useSay();
  const { acknowledged } = route.useSearch();
  const open = useFailures(from, "no");
  const seen = useFailures(from, "yes");
  const bad = open.items ?? [];
  const theirs = seen.items ?? [];
  return (
    <section>
      <h2>
        {t("today.failed")}
        {bad.length > 0 && (
          <Link className="more" to="/runs" search={{ st: "failed,quarantined" }}>
            {t("today.more")}
          </Link>
        )}
        {(theirs.length > 0 || acknowledged) && (
          <Link className="more" to="/" search={{ acknowledged: acknowledged ? undefined : "1" }} replace resetScroll={false}>
            {t(acknowledged ? "today.hideAcknowledged" : "today.showAcknowledged")}
            {!acknowledged && ` (${theirs.length}${seen.hasNextPage ? "+" : ""})`}
          </Link>
        )}
      </h2>
      {open.isError ? (
        <ErrorView error={open.error} retry={() => void open.refetch()} />
      ) : open.isPending || (bad.length === 0 && open.hasNextPage) ? (
        <SkeletonRows />
      ) : bad.length === 0 ? (
        <p className="calm">{t(theirs.length > 0 ? "today.allAcknowledged" : "today.noFailed")}</p>
      ) : (
        <Failed list={bad} />
      )}
      {acknowledged && (
        <>
          <h3>{t("today.acknowledgedTitle")}</h3>
          {seen.isError ? (
            <ErrorView error={seen.error} retry={() => void seen.refetch()} />
          ) : theirs.length === 0 ? (
            <p className="calm">{t("today.noAcknowledged")}</p>
          ) : (
            <Failed list={theirs} />
          )}
        </>
      )}
    </section>
  );
}
