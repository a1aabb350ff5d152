import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { Instance } from "../../api/client";
import { namedQuery, readInstances } from "../../api/instances";
import type { InstanceFilter } from "../../api/queries";

const pageSize = 100;

export interface Feed {
  items: Instance[];
  error: unknown;
  pending: boolean;
  more: boolean;
  loadingMore: boolean;
  fresh: string; // how many rows came since; "" for none
  readMore: () => void;
  showNew: () => void;
  setInSight: (ids: string[]) => void;
  retry: () => void;
}

/** useFeed reads a list that stands still: rows in sight are renewed in place, whatever they have
 * become, and new ones wait behind a button. The filter must keep its identity while it is the same. */
export function useFeed(filter: InstanceFilter, epoch: number, renew: () => void): Feed {
  const list = useInfiniteQuery({
    queryKey: ["feed", filter, epoch],
    queryFn: ({ pageParam, signal }) => readInstances({ ...filter, outline: true }, pageParam || undefined, pageSize, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor || undefined,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
    // A list that could not be read asks again by itself; one that was read stands still.
    refetchInterval: (query) => (query.state.status === "error" ? 5000 : false),
  });
  const loaded = useMemo(() => list.data?.pages.flatMap((p) => p.items) ?? [], [list.data]);
  const [inSight, setIds] = useState<string[]>([]);
  const setInSight = useCallback((ids: string[]) => setIds((was) => (was.join() === ids.join() ? was : ids)), []);
  const named = useQuery({ ...namedQuery(inSight), enabled: inSight.length > 0 });
  const renewed = useMemo(() => new Map(named.data?.map((i) => [i.id, i])), [named.data]);
  const items = useMemo(() => loaded.map((i) => renewed.get(i.id) ?? i), [loaded, renewed]);
  const head = loaded[0]?.created_at;
  const since = useQuery({
    queryKey: ["instances", "new", filter, head ?? ""],
    queryFn: ({ signal }) => readInstances({ ...filter, from: head ?? filter.from }, undefined, pageSize, signal),
    enabled: list.isSuccess && filter.to === undefined,
  });
  const fresh = useMemo(() => {
    const known = new Set(loaded.slice(0, pageSize).map((i) => i.id));
    const n = since.data?.items.filter((i) => !known.has(i.id)).length ?? 0;
    return n === 0 ? "" : since.data?.next_cursor ? `${n}+` : String(n);
  }, [since.data, loaded]);
  const fetchMore = list.fetchNextPage;
  const refetch = list.refetch;
  return {
    items,
    error: list.isError && loaded.length === 0 ? list.error : undefined,
    pending: list.isPending,
    more: list.hasNextPage,
    loadingMore: list.isFetchingNextPage,
    fresh,
    readMore: useCallback(() => void fetchMore(), [fetchMore]),
    showNew: renew,
    setInSight,
    retry: useCallback(() => void refetch(), [refetch]),
  };
}
