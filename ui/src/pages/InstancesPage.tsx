import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useCallback, useMemo, useState } from "react";
import type { Instance } from "../api/client";
import type { BulkVerb } from "../api/commands";
import { countsQuery } from "../api/queries";
import { may, roleIn } from "../domain/rights";
import { useSay, word } from "../i18n";
import { BulkBar } from "../instance/list/BulkBar";
import { BulkDialog, type BulkIntent } from "../instance/list/BulkDialog";
import { Columns } from "../instance/list/Columns";
import { type Choice, isChosen, nothing, range, toggle } from "../instance/list/choice";
import { Export } from "../instance/list/Export";
import { Filters, spanWords } from "../instance/list/Filters";
import { defaultSpan, filterOf, narrows, scopeOf } from "../instance/list/filter";
import { Histogram } from "../instance/list/Histogram";
import "../instance/list/list.css";
import { useFeed } from "../instance/list/useFeed";
import { Views } from "../instance/list/Views";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { EndlessInstances } from "../parts/InstanceTable";
import { triggerOf } from "../parts/trigger";
import { useStay } from "../parts/useStay";
import type { InstancesSearch } from "../search";
import { type Keys, useKeys } from "../shell/keys";
import { useMe } from "../shell/me";

const route = getRouteApi("/runs");

export function InstancesPage() {
  const { t } = useSay();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const address = JSON.stringify(search);
  // The list stands still: its "now" is the moment at which it was asked for.
  const [asked, setAsked] = useState({ epoch: 0, now: Date.now() });
  const renew = useCallback(() => setAsked((was) => ({ epoch: was.epoch + 1, now: Date.now() })), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address stands for what is in it
  const filter = useMemo(() => filterOf(search, asked.now), [address, asked.now]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the address stands for what is in it
  const scope = useMemo(() => scopeOf(search, asked.now), [address, asked.now]);
  const feed = useFeed(filter, asked.epoch, renew);
  const [choice, setChoice] = useState<{ of: string; is: Choice }>({ of: address, is: nothing });
  // Another filter is another list: what was chosen of the last one is let go.
  const chosen = choice.of === address ? choice.is : nothing;
  const choose = useCallback((is: Choice) => setChoice({ of: address, is }), [address]);
  const [cursor, setCursor] = useState(-1);
  const [intent, setIntent] = useState<BulkIntent>();
  const filterBy = (part: InstancesSearch) => void go({ search: (s) => ({ ...s, ...part }), replace: true });
  const counts = useQuery(countsQuery(scope));
  const matching = matchingOf(search, counts.data);
  const order = useMemo(() => feed.items.map((i) => i.id), [feed.items]);
  const pick = useCallback(
    (id: string, ranged: boolean) => choose(ranged ? range(chosen, id, order) : toggle(chosen, id)),
    [choose, chosen, order],
  );
  useKeys(useListKeys({ order, cursor, setCursor, pick, clear: () => choose(nothing) }));
  const me = useMe();
  // Of rows of several projects those are asked that may be: the others are named as forbidden.
  const within = chosen.all
    ? search.project
      ? [search.project]
      : Object.keys(me.roles)
    : feed.items.filter((i) => chosen.ids.has(i.id)).map((i) => i.project);
  const why = me.admin || within.some((p) => may(roleIn(me, p), "operator")) ? undefined : t("account.why.operator");
  const verb = (v: BulkVerb, force: boolean) => {
    const rows = chosen.all ? { ...filter, to: filter.to ?? new Date().toISOString() } : feed.items.filter((i) => chosen.ids.has(i.id));
    setIntent({ verb: v, force, rows });
  };
  const picking = useMemo(() => ({ cursor, isChosen: (id: string) => isChosen(chosen, id), onToggle: pick }), [cursor, chosen, pick]);
  return (
    <div className="page fill instances-page">
      <div className="title-row">
        <h1>{t("runs.title")}</h1>
        <Export filter={filter} search={search} now={asked.now} />
        <Columns />
      </div>
      <Views search={search} now={asked.now} />
      <Filters search={search} now={asked.now} onFilter={filterBy} onClear={() => void go({ search: {}, replace: true })} />
      <Histogram scope={scope} state={search.st} onWindow={(w) => void go({ search: (s) => ({ ...s, ...w, span: undefined }) })} />
      {feed.fresh && (
        <Button variant="default" className="fresh" onClick={feed.showNew}>
          {t("instances.fresh", { count: Number.parseInt(feed.fresh, 10), n: feed.fresh })}
        </Button>
      )}
      {feed.error !== undefined ? (
        <ErrorView error={feed.error} retry={feed.retry} />
      ) : feed.pending ? (
        <SkeletonRows rows={8} />
      ) : feed.items.length === 0 && !feed.more ? (
        <Empty search={search} onFilter={filterBy} />
      ) : (
        <>
          <EndlessInstances
            items={feed.items}
            label={t("runs.title")}
            more={feed.more}
            loading={feed.loadingMore}
            onMore={feed.readMore}
            picking={picking}
            onSight={feed.setInSight}
          />
          <p className="faint meta">
            {feed.more ? t("runs.shownMore", { count: feed.items.length }) : t("runs.shown", { count: feed.items.length })}
            {narrows(search) && ` · ${t("instances.narrowed")}`}
          </p>
        </>
      )}
      {(chosen.all || chosen.ids.size > 0) && (
        <BulkBar
          choice={chosen}
          two={pairOf(chosen, feed.items)}
          matching={matching}
          why={why}
          onAll={() => choose({ ...chosen, all: true })}
          onClear={() => choose(nothing)}
          onVerb={verb}
        />
      )}
      <BulkDialog
        intent={intent}
        onClose={() => {
          setIntent(undefined);
          choose(nothing);
        }}
      />
    </div>
  );
}

/** matchingOf is how many rows the filter shows; "" where only a walk through them would tell. */
function matchingOf(search: InstancesSearch, counts: { states: Record<string, number>; at_most: number } | undefined): string {
  if (!counts || narrows(search)) return "";
  const states = search.st?.split(",") ?? Object.keys(counts.states);
  const n = states.reduce((sum, s) => sum + (counts.states[s] ?? 0), 0);
  return states.some((s) => (counts.states[s] ?? 0) >= counts.at_most) ? `${n}+` : String(n);
}

interface ListKeys {
  order: string[];
  cursor: number;
  setCursor: (at: number) => void;
  pick: (id: string, range: boolean) => void;
  clear: () => void;
}

/** pairOf is the two that are chosen, the newer one first, as the list has them. */
function pairOf(choice: Choice, items: readonly Instance[]): readonly [Instance, Instance] | undefined {
  if (choice.all || choice.ids.size !== 2) return undefined;
  const [newer, older] = items.filter((i) => choice.ids.has(i.id));
  return newer && older ? [newer, older] : undefined;
}

function useListKeys({ order, cursor, setCursor, pick, clear }: ListKeys): Keys {
  return useMemo(() => {
    const move = (by: number) => setCursor(Math.min(order.length - 1, Math.max(0, cursor + by)));
    const at = (ranged: boolean) => {
      const id = order[Math.max(0, cursor)];
      if (id !== undefined) pick(id, ranged);
    };
    // The names of keys, by text: capitals would look like components.
    return Object.fromEntries([
      ["j", () => move(1)],
      ["ArrowDown", () => move(1)],
      ["k", () => move(-1)],
      ["ArrowUp", () => move(-1)],
      ["x", () => at(false)],
      ["X", () => at(true)],
      // An open menu is the layer above: the key is its own.
      ["Escape", () => document.querySelector("[role=menu]") === null && clear()],
    ]);
  }, [order, cursor, setCursor, pick, clear]);
}

function Empty({ search, onFilter }: { search: InstancesSearch; onFilter: (part: InstancesSearch) => void }) {
  const { t } = useSay();
  const span = search.span ?? defaultSpan;
  const windowed = search.from !== undefined || search.to !== undefined;
  const hiding = [
    ...(search.st?.split(",") ?? []).map((s) => word(t, "state", s)),
    search.project,
    search.workflow,
    search.v === undefined ? undefined : t("common.version", { n: search.v }),
    search.param,
    search.longer === undefined ? undefined : `> ${search.longer}`,
    search.by === undefined ? undefined : t("common.by", { name: search.by }),
    search.trigger && triggerOf(t, search.trigger).short,
    search.worker,
    search.late && t("instances.late"),
    windowed ? t("instances.window") : span === "any" ? undefined : t(spanWords[span]),
  ].filter((x) => x !== undefined);
  return (
    <div className="empty">
      <p>{t("runs.empty")}</p>
      {hiding.length > 0 && <p className="faint">{t("runs.emptyFilters", { filters: hiding.join(", ") })}</p>}
      {(windowed || (span !== "any" && span !== "7d")) && (
        <Button variant="default" onClick={() => onFilter({ span: "7d", from: undefined, to: undefined })}>
          {t("runs.widen")}
        </Button>
      )}
    </div>
  );
}
