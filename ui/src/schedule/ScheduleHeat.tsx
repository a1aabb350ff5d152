import { Button, Checkbox, SegmentedControl } from "@mantine/core";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChevronLeft, ChevronRight } from "lucide-react";
import { type HeatOf, heatQuery, hourQuery } from "../api/schedules";
import { clockTime, dayOf, millis } from "../domain/format";
import { fullest, type Spot } from "../domain/heat";
import { plus } from "../domain/schedule/days";
import { HeatMap } from "../heat/HeatMap";
import { useSay } from "../i18n";
import { useNow } from "../live/clock";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Drawer } from "../parts/layers";
import type { HeatSearch } from "../searchSchedule";
import { useSettings } from "../settings";
import "@mantine/core/styles/Drawer.css";

interface Props {
  project?: string; // of all that one may see without
  search: HeatSearch;
  set: (part: HeatSearch, replace?: boolean) => void;
}

const two = (n: number) => String(n).padStart(2, "0");
const hours = Array.from({ length: 24 }, (_, h) => two(h));

/** ScheduleHeat is when schedules fire, hour by hour for a week, so that who adds one sees where there is room. */
export function ScheduleHeat({ project, search, set }: Props) {
  const { t, locale } = useSay();
  const { zone } = useSettings();
  const timezone = zone === "browser" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
  const today = dayOf(useNow(false), timezone);
  const from = search.week ?? today;
  const of: HeatOf = { project, timezone };
  const heat = useQuery(heatQuery(of, from));
  const table = search.heat === "table";
  const format = new Intl.NumberFormat(locale);
  const days = heat.data?.days ?? [];
  const counts = days.map((d) => d.fires);
  const peak = Math.max(0, ...counts.flat());
  const name = new Intl.DateTimeFormat(locale, { weekday: "short", day: "numeric", month: "short", timeZone: "UTC" });
  const dayName = (day: string) => name.format(Date.parse(`${day}T00:00:00Z`));
  const about = heat.data?.estimated === true;
  const many = (n: number) => t(about ? "heat.firesAbout" : "heat.fires", { count: n, n: format.format(n) });
  const say = (row: number, column: number, n: number) => {
    const at = { day: dayName(days[row]?.day ?? ""), hour: `${two(column)}:00` };
    return n < 0 ? t("heat.leftOut", at) : t("heat.cell", { ...at, fires: many(n) });
  };
  const openAt = ({ row, column }: Spot) => set({ hour: `${days[row]?.day ?? from}T${two(column)}` });
  const [openDay = "", openHour = ""] = search.hour?.split("T") ?? [];
  const step = (by: number) => set({ week: plus(from, by) }, true);
  return (
    <div className="heat-panel">
      <div className="heat-tools">
        <SegmentedControl
          aria-label={t("heat.view")}
          value={table ? "table" : "map"}
          onChange={(v) => set({ heat: v === "table" ? "table" : "map" })}
          data={[
            { value: "map", label: t("heat.map") },
            { value: "table", label: t("heat.table") },
          ]}
        />
        <span className="ledger-step">
          <Button variant="default" px={6} aria-label={t("heat.before")} onClick={() => step(-7)}>
            <ChevronLeft size={16} />
          </Button>
          <strong className="num" aria-live="polite">
            {dayName(from)} – {dayName(plus(from, 6))}
          </strong>
          <Button variant="default" px={6} aria-label={t("heat.after")} onClick={() => step(7)}>
            <ChevronRight size={16} />
          </Button>
          <Button variant="default" disabled={search.week === undefined} onClick={() => set({ week: undefined }, true)}>
            {t("heat.today")}
          </Button>
        </span>
        {!table && (
          <Checkbox
            label={t("heat.numbers")}
            checked={search.num === "1"}
            onChange={(e) => set({ num: e.currentTarget.checked ? "1" : undefined }, true)}
          />
        )}
        <span className="faint push">{t("heat.zone", { zone: timezone })}</span>
      </div>
      {heat.isError ? (
        <ErrorView error={heat.error} retry={() => void heat.refetch()} />
      ) : heat.isPending ? (
        <SkeletonRows rows={8} />
      ) : (
        <>
          <p className="faint" role="status">
            {heat.data.walked < heat.data.schedules
              ? t("heat.sampled", { n: format.format(heat.data.walked), of: format.format(heat.data.schedules) })
              : about
                ? t("heat.estimated")
                : t("heat.counted")}{" "}
            {t("heat.notByClock")}
          </p>
          {peak === 0 ? (
            <p className="empty">{t("heat.empty")}</p>
          ) : table ? (
            <HourTable rows={fullest(counts)} dayOfRow={(row) => dayName(days[row]?.day ?? "")} many={many} onOpen={openAt} />
          ) : (
            <HeatMap
              label={t("heat.label")}
              rows={days.map((d) => ({ key: d.day, head: dayName(d.day), cells: d.fires }))}
              columns={hours}
              peak={peak}
              numbers={search.num === "1"}
              open={search.hour === undefined ? undefined : { row: days.findIndex((d) => d.day === openDay), column: Number(openHour) }}
              say={say}
              onOpen={openAt}
            />
          )}
        </>
      )}
      <Drawer
        opened={search.hour !== undefined}
        onClose={() => set({ hour: undefined }, true)}
        position="right"
        size="min(720px, 100%)"
        title={search.hour === undefined ? "" : t("heat.hourTitle", { day: dayName(openDay), hour: `${openHour}:00` })}
        classNames={{ title: "drawer-title" }}
      >
        {search.hour !== undefined && <Hour of={of} day={openDay} hour={Number(openHour)} />}
      </Drawer>
    </div>
  );
}

interface TableProps {
  rows: (Spot & { n: number })[];
  dayOfRow: (row: number) => string;
  many: (n: number) => string;
  onOpen: (spot: Spot) => void;
}

/** HourTable says the same as the map in words, the fullest hours first. */
function HourTable({ rows, dayOfRow, many, onOpen }: TableProps) {
  const { t } = useSay();
  return (
    <div className="scroll-x" tabIndex={0} role="group" aria-label={t("heat.label")}>
      <table className="plain heat-table">
        <thead>
          <tr>
            <th>{t("heat.day")}</th>
            <th>{t("heat.hour")}</th>
            <th className="n">{t("heat.planned")}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, column, n }) => (
            <tr key={`${row}.${column}`}>
              <td>{dayOfRow(row)}</td>
              <td className="num">
                <button
                  type="button"
                  className="link"
                  aria-label={`${dayOfRow(row)} ${two(column)}:00`}
                  onClick={() => onOpen({ row, column })}
                >
                  {two(column)}:00
                </button>
              </td>
              <td className="n num">{many(n)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Hour({ of, day, hour }: { of: HeatOf; day: string; hour: number }) {
  const { t, locale } = useSay();
  const list = useInfiniteQuery(hourQuery(of, day, hour));
  if (list.isError) return <ErrorView error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <SkeletonRows rows={6} />;
  const rows = list.data.pages.flatMap((p) => p.items);
  const format = new Intl.NumberFormat(locale);
  return (
    <div className="stack">
      {rows.length === 0 ? (
        <p className="empty">{t(list.hasNextPage ? "heat.noneYet" : "heat.none")}</p>
      ) : (
        <div className="scroll-x" tabIndex={0} role="group" aria-label={t("heat.hourList")}>
          <table className="plain">
            <thead>
              <tr>
                <th>{t("heat.schedule")}</th>
                <th>{t("heat.first")}</th>
                <th className="n">{t("heat.planned")}</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((s) => (
                <tr key={s.id}>
                  <td>
                    <Link to="/p/$project/w/$workflow/s/$schedule" params={{ project: s.project, workflow: s.workflow, schedule: s.name }}>
                      {s.name}
                    </Link>{" "}
                    <span className="faint">
                      {of.project === undefined && `${s.project} / `}
                      {s.workflow} <code>{s.cron}</code>
                    </span>
                  </td>
                  <td className="num">{clockTime(millis(s.first) ?? 0, of.timezone)}</td>
                  <td className="n num">
                    {t(s.estimated ? "heat.firesAbout" : "heat.fires", { count: s.fires, n: format.format(s.fires) })}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.hasNextPage && (
        <Button variant="default" loading={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          {t("heat.more")}
        </Button>
      )}
    </div>
  );
}
