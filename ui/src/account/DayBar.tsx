import { VisuallyHidden } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ProjectOverview } from "../api/account";
import { useSay } from "../i18n";
import { StateIcon } from "../parts/StateIcon";

type Day = ProjectOverview["day"];

/** most is where the server stops counting. */
const most = 1000;

function count(n: number): string {
  return n >= most ? `${most}+` : String(n);
}

/** DayBar is what ran in a project in the last 24 hours: a bar for the eye, numbers for everybody. */
export function DayBar({ project, day }: { project: string; day: Day }) {
  const { t } = useSay();
  const parts = [
    { state: "success", hue: "success", n: day.success },
    { state: "failed", hue: "failed", n: day.failed },
    { state: "stopped", hue: "killed", n: day.stopped },
    { state: "running", hue: "running", n: day.open },
  ].filter((p) => p.n > 0);
  if (parts.length === 0) return <span className="faint">{t("account.projects.dayNone")}</span>;
  return (
    <Link className="day" to="/runs" search={{ project }}>
      <VisuallyHidden>
        {t("account.projects.dayLabel", { ok: count(day.success), failed: count(day.failed), open: count(day.open) })}
      </VisuallyHidden>
      <span className="day-bar" aria-hidden="true">
        {parts.map((p) => (
          <i key={p.state} className={`hue-${p.hue}`} style={{ flexGrow: p.n }} />
        ))}
      </span>
      <span className="day-counts num" aria-hidden="true">
        {parts.map((p) => (
          <span key={p.state}>
            <StateIcon state={p.state} size={14} /> {count(p.n)}
          </span>
        ))}
      </span>
    </Link>
  );
}
