import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useSay } from "../i18n";

/** Crumbs is the way to a page: the projects, then what it lies in. The page's own name is its heading. */
export function Crumbs({ project, children }: { project?: string; children?: ReactNode }) {
  const { t } = useSay();
  return (
    <nav className="crumbs" aria-label={t("nav.crumbs")}>
      <Link to="/projects">{t("nav.projects")}</Link>
      {project !== undefined && (
        <>
          {" / "}
          <Link to="/p/$project/workflows" params={{ project }}>
            {project}
          </Link>
        </>
      )}
      {children !== undefined && <> / {children}</>}
    </nav>
  );
}
