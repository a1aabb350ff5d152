import { useQuery } from "@tanstack/react-query";
import { type Dependency, dependenciesQuery } from "../../api/about";
import { useSay } from "../../i18n";
import { ErrorView, SkeletonRows } from "../../parts/ErrorView";
import { StateIcon } from "../../parts/StateIcon";
import { Moment } from "../../parts/Times";
import { sentence } from "../Why";
import { Named } from "./Child";

/** maxRuns is how many of the instances that count are named: a month has thirty. */
const maxRuns = 31;
const looks = { waiting: "waiting", success: "success", failed: "failed" } as const;
const words = { waiting: "about.waiting", success: "about.success", failed: "about.failed" } as const;

/** Dependencies lists what a dependent task waits for, each with the instances that count. */
export function Dependencies({ id, task }: { id: string; task: string }) {
  const { t } = useSay();
  const list = useQuery(dependenciesQuery(id, task));
  if (list.isError) return <ErrorView error={list.error} retry={() => void list.refetch()} />;
  if (list.isPending) return <SkeletonRows />;
  return (
    <section>
      <p className="faint">
        {t("about.reckoned")} <Moment at={list.data.at} />
      </p>
      <ul className="about-list tall" aria-label={t("about.dependent")}>
        {list.data.items.map((d, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the items stand in the order of the text and have no name
          <One key={i} d={d} />
        ))}
      </ul>
    </section>
  );
}

function One({ d }: { d: Dependency }) {
  const { t } = useSay();
  const runs = d.instance ? [d.instance] : d.runs;
  return (
    <li>
      <StateIcon state={looks[d.verdict]} size={16} label={t(words[d.verdict])} />
      <div className="about-item">
        <div>
          <strong>
            {d.project} / {d.workflow}
            {d.task && ` · ${d.task}`}
          </strong>{" "}
          <span className="mono">{d.date}</span>
          {d.once && <span className="faint"> {t("about.once")}</span>}
        </div>
        {d.verdict !== "success" && (
          <div className="faint">{sentence(t, { code: d.code, text: d.text, args: d.args }, Date.now()) || d.text}</div>
        )}
        {runs.length > 0 && (
          <div className="about-runs">
            {runs.slice(0, maxRuns).map((id) => (
              <span key={id} className="about-run">
                <Named id={id} />
              </span>
            ))}
          </div>
        )}
      </div>
    </li>
  );
}
