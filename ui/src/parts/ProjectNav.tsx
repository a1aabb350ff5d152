import { Link, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useSay } from "../i18n";
import { Crumbs } from "./Crumbs";

const places = [
  { to: "/p/$project/workflows", label: "nav.workflows" },
  { to: "/p/$project/schedules", label: "schedules.title" },
  { to: "/p/$project/backfills", label: "schedules.backfills" },
  { to: "/p/$project/timers", label: "timers.title" },
  { to: "/p/$project/listeners", label: "listeners.title" },
  { to: "/p/$project/settings", label: "nav.settings" },
  { to: "/p/$project/members", label: "account.projects.members" },
] as const;

/** ProjectNav leads from any page of a project to all its others. */
export function ProjectNav({ project }: { project: string }) {
  const { t } = useSay();
  const at = useRouterState({ select: (s) => s.matches.at(-1)?.routeId ?? "" });
  const nav = useRef<HTMLElement>(null);
  // Where the window is narrow, the page that is open is in sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page is another place
  useEffect(() => {
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [at]);
  return (
    <>
      <Crumbs project={project} />
      <nav ref={nav} className="project-nav" aria-label={t("nav.project", { project })}>
        {places.map(({ to, label }) => (
          <Link key={to} to={to} params={{ project }} aria-current={at === to ? "page" : undefined}>
            {t(label)}
          </Link>
        ))}
      </nav>
    </>
  );
}
