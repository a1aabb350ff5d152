import { CloseButton, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { countsQuery, projectsQuery, workflowsQuery } from "../../api/queries";
import { moment } from "../../domain/format";
import { instanceStates } from "../../domain/states";
import { useSay, word } from "../../i18n";
import { FilterText } from "../../parts/FilterText";
import { StateIcon } from "../../parts/StateIcon";
import { triggerOf } from "../../parts/trigger";
import { type InstancesSearch, spans, triggers } from "../../search";
import { useSettings } from "../../settings";
import { defaultSpan, scopeOf } from "./filter";

export const spanWords = { "1h": "runs.last1h", "24h": "runs.last24h", "7d": "runs.last7d", any: "runs.anyTime" } as const;
const longer = ["1m", "10m", "1h", "6h"];

interface Props {
  search: InstancesSearch;
  now: number;
  onFilter: (part: InstancesSearch) => void;
  onClear: () => void;
}

/** Filters are what the address asks for; typing replaces it after a moment, so that Back goes to the last page. */
export function Filters({ search, now, onFilter, onClear }: Props) {
  const { t } = useSay();
  const { zone } = useSettings();
  const projects = useQuery(projectsQuery);
  const workflows = useQuery({ ...workflowsQuery(search.project ?? ""), enabled: search.project !== undefined });
  const counts = useQuery(countsQuery(scopeOf(search, now)));
  const chosen = search.st?.split(",") ?? [];
  const toggle = (state: string) => {
    const next = chosen.includes(state) ? chosen.filter((s) => s !== state) : [...chosen, state];
    onFilter({ st: next.join(",") || undefined });
  };
  const count = (state: string) => counts.data?.states[state] ?? 0;
  const shown = instanceStates.filter((s) => count(s) > 0 || chosen.includes(s));
  const windowed = search.from !== undefined || search.to !== undefined;
  const clear = { "aria-label": t("common.clear") };
  const any = Object.values(search).some((v) => v !== undefined);
  return (
    <div className="filters">
      <Select
        data-filter
        aria-label={t("runs.filterProject")}
        placeholder={t("runs.filterProject")}
        data={projects.data?.map((p) => p.name) ?? []}
        value={search.project ?? null}
        onChange={(v) => onFilter({ project: v ?? undefined, workflow: undefined, v: undefined })}
        clearable
        searchable
        clearButtonProps={clear}
      />
      <Select
        aria-label={t("runs.filterWorkflow")}
        placeholder={t("runs.filterWorkflow")}
        data={workflows.data?.map((w) => w.name) ?? []}
        value={search.workflow ?? null}
        onChange={(v) => onFilter({ workflow: v ?? undefined, v: undefined })}
        disabled={!search.project}
        clearable
        searchable
        clearButtonProps={clear}
      />
      {windowed ? (
        <span className="chip num">
          {search.from ? moment(Date.parse(search.from), zone) : "…"} – {search.to ? moment(Date.parse(search.to), zone) : "…"}
          <CloseButton size={22} aria-label={t("instances.clearWindow")} onClick={() => onFilter({ from: undefined, to: undefined })} />
        </span>
      ) : (
        <Select
          aria-label={t("runs.filterTime")}
          data={spans.map((s) => ({ value: s, label: t(spanWords[s]) }))}
          value={search.span ?? defaultSpan}
          onChange={(v) => onFilter({ span: spans.find((s) => s === v) })}
        />
      )}
      <FilterText
        className="narrow"
        aria-label={t("runs.version")}
        placeholder={t("runs.version")}
        value={search.v ?? ""}
        onFilter={(v) => onFilter({ v })}
        clean={(text) => text.replaceAll(/\D|^0+/g, "")}
        inputMode="numeric"
        maxLength={9}
      />
      <FilterText
        aria-label={t("instances.param")}
        placeholder={t("instances.paramHint")}
        value={search.param ?? ""}
        onFilter={(param) => onFilter({ param })}
      />
      <Select
        className="narrow"
        aria-label={t("instances.longer")}
        placeholder={t("instances.longer")}
        data={[...new Set([...longer, ...(search.longer ? [search.longer] : [])])].map((l) => ({ value: l, label: `> ${l}` }))}
        value={search.longer ?? null}
        onChange={(v) => onFilter({ longer: v ?? undefined })}
        clearable
        clearButtonProps={clear}
      />
      <Select
        className="narrow"
        aria-label={t("runs.trigger")}
        placeholder={t("runs.trigger")}
        data={triggers.map((x) => ({ value: x, label: triggerOf(t, x).short }))}
        value={search.trigger ?? null}
        onChange={(v) => onFilter({ trigger: triggers.find((x) => x === v) })}
        clearable
        clearButtonProps={clear}
      />
      <FilterText
        className="narrow"
        aria-label={t("instances.worker")}
        placeholder={t("instances.worker")}
        value={search.worker ?? ""}
        onFilter={(worker) => onFilter({ worker })}
      />
      {search.late && (
        <span className="chip">
          {t("instances.late")}
          <CloseButton size={22} aria-label={t("instances.clearLate")} onClick={() => onFilter({ late: undefined })} />
        </span>
      )}
      {search.by !== undefined && (
        <span className="chip">
          {t("common.by", { name: search.by })}
          <CloseButton size={22} aria-label={t("instances.clearBy")} onClick={() => onFilter({ by: undefined })} />
        </span>
      )}
      <fieldset className="counts" aria-label={t("runs.state")}>
        {shown.map((s) => (
          <button key={s} type="button" aria-pressed={chosen.includes(s)} onClick={() => toggle(s)}>
            <StateIcon state={s} />
            {word(t, "state", s)}
            <b className="num">{count(s) >= (counts.data?.at_most ?? Number.POSITIVE_INFINITY) ? `${count(s)}+` : count(s)}</b>
          </button>
        ))}
      </fieldset>
      {any && (
        <button type="button" className="link" onClick={onClear}>
          {t("common.clear")}
        </button>
      )}
    </div>
  );
}
