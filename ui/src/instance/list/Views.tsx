import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { countsQuery } from "../../api/queries";
import { type Sentence, useSay } from "../../i18n";
import type { InstancesSearch } from "../../search";
import { useMe } from "../../shell/me";
import { scopeOf } from "./filter";

interface View {
  name: Sentence;
  search: InstancesSearch;
  states?: string[]; // whose counts are shown; absent: none can be counted
}

const waiting = ["submitted", "serial_wait", "paused"];
const running = ["running", "pausing", "stopping"];

function views(me: string): View[] {
  return [
    { name: "instances.viewDay", search: {}, states: [] },
    { name: "instances.viewFailed", search: { st: "failed" }, states: ["failed"] },
    { name: "instances.viewRunning", search: { st: running.join(","), span: "any" }, states: running },
    { name: "instances.viewWaiting", search: { st: waiting.join(","), span: "any" }, states: waiting },
    { name: "instances.viewLate", search: { st: "running", span: "any", late: "1" } },
    { name: "instances.viewMine", search: { by: me } },
    { name: "instances.viewAll", search: { span: "any" as const } },
  ];
}

/** Views are saved filters with what they hold now; project and workflow stay as they are. */
export function Views({ search, now }: { search: InstancesSearch; now: number }) {
  const { t } = useSay();
  const me = useMe().name;
  const { project, workflow } = search;
  const day = useQuery(countsQuery(scopeOf({ project, workflow }, now)));
  const ever = useQuery(countsQuery(scopeOf({ project, workflow, span: "any" }, now)));
  const same = (v: View) => {
    const plain = ({ st, span, from, to, v: version, by, param, longer, trigger, late }: InstancesSearch) =>
      JSON.stringify([
        st ?? "",
        span === "24h" ? "" : (span ?? ""),
        from ?? "",
        to ?? "",
        version ?? "",
        by ?? "",
        param ?? "",
        longer ?? "",
        trigger ?? "",
        late ?? "",
      ]);
    return plain(v.search) === plain(search);
  };
  const count = (v: View) => {
    const counts = (v.search.span === "any" ? ever : day).data;
    if (!counts || v.states === undefined) return "";
    const names = v.states.length > 0 ? v.states : Object.keys(counts.states);
    const n = names.reduce((sum, s) => sum + (counts.states[s] ?? 0), 0);
    return names.some((s) => (counts.states[s] ?? 0) >= counts.at_most) ? `${n}+` : String(n);
  };
  return (
    <nav className="views" aria-label={t("instances.views")}>
      {views(me).map((v) => (
        <Link
          key={v.name}
          to="/runs"
          search={{ project, workflow, ...v.search }}
          activeOptions={{ exact: true }}
          aria-current={same(v) ? "true" : undefined}
          data-current={same(v)}
        >
          {t(v.name)} <b className="num">{count(v)}</b>
        </Link>
      ))}
    </nav>
  );
}
