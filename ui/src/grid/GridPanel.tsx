import { Button, SegmentedControl, Select, TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { Suspense, useCallback, useMemo, useState } from "react";
import { type GridOf, gridLimit, gridOf, gridQuery, readOlder } from "../api/grid";
import { byInstance, nothing, type Shown, type Spot } from "../domain/grid/choice";
import { type Grid, joined } from "../domain/grid/grid";
import { useSay, word } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { Later } from "../parts/Later";
import { piece } from "../parts/piece";
import { gridCounts, gridStates } from "../searchGrid";
import type { WorkflowSearch } from "../searchSchedule";
import { useSettings } from "../settings";
import { ChoiceBar } from "./ChoiceBar";
import "./grid.css";
import "./signs.css";
import { GridTable, type Size } from "./GridTable";
import { sayingOf } from "./looks";
import { useChoice } from "./useChoice";
import { useLiveGrid } from "./useLiveGrid";

const CellPanel = piece(() => import("./CellPanel").then((m) => m.CellPanel));
const TaskHistory = piece(() => import("./TaskHistory").then((m) => m.TaskHistory));

interface Props {
  project: string;
  workflow: string;
  search: WorkflowSearch;
  set: (part: WorkflowSearch, replace?: boolean) => void;
  why: string | undefined; // why the role may change nothing; undefined where it may
}

const phone = window.matchMedia("(max-width: 640px)");
const closed = { task: undefined, run: undefined, panel: undefined, attempt: undefined, line: undefined, out: undefined, full: undefined };

/** GridPanel is a workflow's last instances beside each other, task by task. */
export function GridPanel({ project, workflow, search, set, why }: Props) {
  const { t } = useSay();
  const { only, n, until } = search;
  const { zone } = useSettings();
  const of = useMemo(() => gridOf(project, workflow, { only, n, until }, zone), [project, workflow, only, n, until, zone]);
  const grid = useQuery(gridQuery(of));
  useLiveGrid(of);
  if (grid.isError && !grid.data) return <ErrorView error={grid.error} retry={() => void grid.refetch()} />;
  if (!grid.data) return <SkeletonRows rows={8} />;
  return (
    <div className="split grid-split" data-panel={search.task !== undefined}>
      <div className="tabs grid-main">
        <div className="grid-tools-room">
          <Later>
            <Tools search={search} set={set} />
          </Later>
        </div>
        <p className="grid-phone faint">{t("grid.phone")}</p>
        {grid.data.columns.length === 0 ? (
          <Empty only={search.only} until={search.until} onAll={() => set({ only: undefined, until: undefined })} />
        ) : (
          <Loaded of={of} grid={grid.data} search={search} set={set} why={why} />
        )}
      </div>
      {search.task !== undefined && (
        <Suspense fallback={<SkeletonRows />}>
          {search.run === undefined ? (
            <TaskHistory of={of} task={search.task} onClose={() => set(closed)} onOpen={(run) => set({ run, panel: "log" })} />
          ) : (
            <CellPanel
              key={`${search.run} ${search.task}`}
              id={search.run}
              task={search.task}
              search={search}
              set={set}
              onClose={() => set(closed)}
            />
          )}
        </Suspense>
      )}
    </div>
  );
}

function Tools({ search, set }: Pick<Props, "search" | "set">) {
  const { t } = useSay();
  const typed = useDebouncedCallback((q: string) => set({ q: q || undefined }, true), 150);
  return (
    <div className="grid-tools">
      <TextInput
        data-filter
        leftSection={<Search size={14} />}
        aria-label={t("grid.find")}
        placeholder={t("grid.find")}
        defaultValue={search.q ?? ""}
        onChange={(e) => typed(e.currentTarget.value)}
        autoComplete="off"
        maxLength={200}
      />
      <SegmentedControl
        aria-label={t("grid.only")}
        data={[{ value: "", label: t("grid.all") }, ...gridStates.map((s) => ({ value: s, label: word(t, "state", s) }))]}
        value={search.only ?? ""}
        onChange={(v) => set({ only: gridStates.find((s) => s === v) })}
      />
      <Select
        className="grid-count"
        aria-label={t("grid.count")}
        data={gridCounts.map((n) => ({ value: n, label: t("grid.last", { n }) }))}
        value={search.n ?? String(gridLimit)}
        onChange={(v) => set({ n: v === String(gridLimit) ? undefined : gridCounts.find((n) => n === v) }, true)}
        allowDeselect={false}
      />
      <TextInput
        className="grid-until"
        type="date"
        aria-label={t("grid.until")}
        title={t("grid.until")}
        value={search.until ?? ""}
        onChange={(e) => set({ until: e.currentTarget.value || undefined }, true)}
      />
      {search.until !== undefined && (
        <Button variant="default" onClick={() => set({ until: undefined }, true)}>
          {t("grid.now")}
        </Button>
      )}
    </div>
  );
}

function Empty({ only, until, onAll }: Pick<WorkflowSearch, "only" | "until"> & { onAll: () => void }) {
  const { t } = useSay();
  return (
    <div className="empty">
      <p>
        {only !== undefined
          ? t("grid.noneIs", { state: word(t, "state", only) })
          : until !== undefined
            ? t("grid.noneUntil", { day: until })
            : t("hub.neverRun")}
      </p>
      {(only !== undefined || until !== undefined) && (
        <Button variant="default" onClick={onAll}>
          {t("grid.showAll")}
        </Button>
      )}
    </div>
  );
}

const sizeKey = "porpoise.grid.size";

function keptSize(): Size {
  try {
    return localStorage.getItem(sizeKey) === "tiny" ? "tiny" : "normal";
  } catch {
    return "normal"; // storage is off
  }
}

function keepSize(size: Size): void {
  try {
    localStorage.setItem(sizeKey, size);
  } catch {
    // Storage is off: the choice lasts for this visit.
  }
}

interface LoadedProps extends Pick<Props, "search" | "set" | "why"> {
  of: GridOf;
  grid: Grid;
}

function Loaded({ of, grid, search, set, why }: LoadedProps) {
  const { t } = useSay();
  const leave = useNavigate();
  const [size, setSize] = useState(keptSize);
  const [choice, setChoice] = useChoice(search.cells, set);
  const [asked, setCursor] = useState<Spot>();
  const [pointed, setPointed] = useState<Spot>();
  const [folded, setFolded] = useState(false);
  const older = useOlder(of, grid);
  const q = search.q?.toLowerCase();
  const rows = useMemo(() => {
    const count = folded ? grid.gone : grid.rows.length;
    return Array.from({ length: count }, (_, i) => i).filter((i) => q === undefined || grid.rows[i]?.toLowerCase().includes(q));
  }, [grid.rows, grid.gone, folded, q]);
  const shown: Shown = useMemo(() => ({ grid, rows, columns: grid.columns }), [grid, rows]);
  const cursor = useMemo(() => {
    const at = asked ?? { row: 0, column: grid.columns.length - 1 };
    return { row: Math.min(at.row, rows.length - 1), column: Math.min(at.column, grid.columns.length - 1) };
  }, [asked, rows.length, grid.columns.length]);
  const open = (spot: Spot) => {
    const column = grid.columns[spot.column];
    const task = grid.rows[rows[spot.row] ?? -1];
    if (task === undefined) {
      if (column) void leave({ to: "/p/$project/r/$id", params: { project: of.project, id: column.id } });
    } else if (!column) set({ ...closed, task }, search.task !== undefined);
    else if (phone.matches)
      void leave({ to: "/p/$project/r/$id", params: { project: of.project, id: column.id }, search: { task, panel: "log" } });
    else set({ ...closed, task, run: column.id, panel: search.panel ?? "log" }, search.task !== undefined);
  };
  const corner = useMemo(() => <Corner columns={grid.columns.length} tasks={grid.gone} />, [grid.columns.length, grid.gone]);
  const saying = useMemo(() => sayingOf(t), [t]);
  const goneAt = rows.findIndex((row) => row >= grid.gone);
  const chosen = useMemo(() => byInstance(grid, choice), [grid, choice]);
  const at = pointed ?? cursor;
  const line = grid.columns[at.column];
  const row = rows[at.row];
  return (
    <>
      <GridTable
        project={of.project}
        workflow={of.workflow}
        shown={shown}
        saying={saying}
        size={size}
        heading={corner}
        separator={goneAt}
        cursor={cursor}
        choice={choice}
        opened={{ id: search.run, task: search.task }}
        older={older}
        onCursor={setCursor}
        onChoice={setChoice}
        onOpen={open}
        onPoint={setPointed}
      />
      {rows.length === 0 && <p className="empty">{t("grid.noTask", { q: search.q ?? "" })}</p>}
      <div className="grid-foot">
        <p className="grid-line num">{line && row !== undefined ? saying(grid, line, row) : ""}</p>
        {older.error !== undefined && (
          <span className="warning" role="alert">
            {t("grid.olderFailed")}
          </span>
        )}
        {grid.next !== undefined && (
          <Button variant="subtle" size="compact-sm" loading={older.loading} onClick={older.read}>
            {t("grid.older")}
          </Button>
        )}
        {grid.gone < grid.rows.length && (
          <Button variant="subtle" size="compact-sm" aria-expanded={!folded} onClick={() => setFolded(!folded)}>
            {t(folded ? "grid.showGone" : "grid.hideGone", { count: grid.rows.length - grid.gone, n: grid.version })}
          </Button>
        )}
        <Later>
          <SegmentedControl
            aria-label={t("grid.size")}
            data={[
              { value: "normal", label: t("grid.normal") },
              { value: "tiny", label: t("grid.tiny") },
            ]}
            value={size}
            onChange={(v) => {
              const to = v === "tiny" ? "tiny" : "normal";
              keepSize(to);
              setSize(to);
            }}
          />
        </Later>
      </div>
      {chosen.length > 0 && (
        <ChoiceBar
          of={of}
          chosen={chosen}
          why={why}
          onLog={(run, task) => set({ ...closed, run, task, panel: "log" }, search.task !== undefined)}
          onClear={() => setChoice(nothing)}
        />
      )}
    </>
  );
}

interface Older {
  more: boolean;
  loading: boolean;
  error: unknown;
  read: () => void;
}

/** useOlder reads what is left of the oldest column, once it comes into sight. */
function useOlder(of: GridOf, grid: Grid): Older {
  const client = useQueryClient();
  const [state, setState] = useState<{ loading: boolean; error: unknown }>({ loading: false, error: undefined });
  const { next } = grid;
  const read = useCallback(() => {
    if (next === undefined) return;
    const key = gridQuery(of).queryKey;
    setState({ loading: true, error: undefined });
    readOlder(of, next).then(
      (answer) => {
        client.setQueryData<Grid>(key, (before) => (before?.next === next ? joined(before, answer, "older") : before));
        setState({ loading: false, error: undefined });
      },
      (error: unknown) => setState({ loading: false, error }),
    );
  }, [client, of, next]);
  // After an error a person asks again: a scroll must not do so many times a second.
  return useMemo(() => ({ more: next !== undefined && state.error === undefined, ...state, read }), [next, state, read]);
}

function Corner({ columns, tasks }: { columns: number; tasks: number }) {
  const { t } = useSay();
  return (
    <>
      <span className="grid-about num">{t("grid.shown", { count: columns, tasks })}</span>
      <span className="grid-figures" aria-hidden="true">
        <span>{t("grid.failedOf")}</span>
        <span>p50</span>
        <span>p95</span>
      </span>
    </>
  );
}
