import type { Scope } from "../../api/instances";
import type { InstanceFilter } from "../../api/queries";
import { quote } from "../../domain/terminal";
import type { InstancesSearch, Span } from "../../search";

// What the address of the list asks the server for, and the same question in other forms.

const spanMs: Record<Span, number> = { "1h": 3_600_000, "24h": 86_400_000, "7d": 604_800_000, any: 0 };
export const defaultSpan: Span = "24h";

/** windowOf is the time that the list shows. A span ends now; an explicit window stays where it is. */
export function windowOf(search: InstancesSearch, now: number): { from?: string; to?: string } {
  if (search.from !== undefined || search.to !== undefined) return { from: search.from, to: search.to };
  const span = search.span ?? defaultSpan;
  // To the minute, so that the same page asks the same question.
  return span === "any" ? {} : { from: new Date(Math.floor((now - spanMs[span]) / 60_000) * 60_000).toISOString() };
}

/** scopeOf is the part of the filter that counts and histograms take. */
export function scopeOf(search: InstancesSearch, now: number): Scope {
  const workflow = search.project === undefined ? undefined : search.workflow;
  return { project: search.project, workflow, ...windowOf(search, now) };
}

export function filterOf(search: InstancesSearch, now: number): InstanceFilter {
  return {
    ...scopeOf(search, now),
    state: search.st,
    version: search.v === undefined ? undefined : Number(search.v),
    by: search.by,
    param: search.param,
    longer: search.longer,
    trigger: search.trigger,
    late: search.late === "1" ? true : undefined,
    worker: search.worker,
  };
}

/** narrows says that the filter looks into the rows: counts and histogram then show more than the list. */
export function narrows(search: InstancesSearch): boolean {
  return [search.v, search.by, search.param, search.longer, search.trigger, search.late, search.worker].some((x) => x !== undefined);
}

/** absolute is the same view with fixed times, for a link that shows the same rows tomorrow. */
export function absolute(search: InstancesSearch, now: number): InstancesSearch {
  const { span: _, ...rest } = search;
  return { ...rest, ...windowOf(search, now), to: search.to ?? new Date(now).toISOString() };
}

function pairs(filter: InstanceFilter): [string, string][] {
  return Object.entries(filter).flatMap(([k, v]) => (v === undefined || v === "" ? [] : [[k, String(v)] as [string, string]]));
}

/** asCurl is the list's question for a terminal; the token is the reader's own. */
export function asCurl(filter: InstanceFilter, base: string): string {
  const query = new URLSearchParams(pairs(filter)).toString();
  return `curl -H "Authorization: Bearer $PORPOISE_TOKEN" ${quote(`${base}/instances${query ? `?${query}` : ""}`)}`;
}

const flags = new Set(["project", "workflow", "state"]);

/** asCLI is the list's question as a command; what the command has no flag for is left out. */
export function asCLI(filter: InstanceFilter): string {
  return ["porpoise instances", ...pairs(filter).flatMap(([k, v]) => (flags.has(k) ? [`--${k} ${quote(v)}`] : []))].join(" ");
}
