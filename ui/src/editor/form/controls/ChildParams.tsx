import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import type { Param } from "../../../api/client";
import { graphQuery, workflowQuery } from "../../../api/queries";
import { isFields } from "../../../domain/document/read";
import { useSay } from "../../../i18n";
import type { Target } from "../target";
import { textAt, useProject } from "./Named";

/** ChildParams says which parameters the workflow that a task runs takes, and puts those that are not given yet among the task's own. */
export function ChildParams({ target }: { target: Target }) {
  const { t } = useSay();
  const home = useProject();
  const project = textAt(target, ["project"]) || home;
  const workflow = textAt(target, ["workflow"]);
  const one = useQuery({ ...workflowQuery(project, workflow), enabled: workflow !== "", retry: false });
  const asked = Number(textAt(target, ["version"]));
  const version = asked > 0 ? asked : (one.data?.published ?? 0);
  const graph = useQuery({ ...graphQuery(project, workflow, version), enabled: one.isSuccess && version > 0, retry: false });
  if (workflow === "" || !graph.data) return null;
  const params = target.read(["params"]);
  const given = new Set([...(isFields(params) ? Object.keys(params) : []), ...itemsOf(target)]);
  return (
    <div className="special-note">
      <p>
        <Link to="/p/$project/w/$workflow" params={{ project, workflow }} target="_blank">
          {workflow}
        </Link>{" "}
        {graph.data.params.length === 0 ? t("special.takesNothing") : t("special.takes")}
      </p>
      <ul className="special-params">
        {graph.data.params.map((p) => (
          <li key={p.name}>
            <span className="mono">{p.name}</span> <span className="faint">{aboutOf(p, t("special.required"))}</span>
            {given.has(p.name) ? (
              <span className="faint">{t("special.given")}</span>
            ) : (
              <Button
                variant="subtle"
                size="compact-xs"
                leftSection={<Plus size={12} />}
                onClick={() => target.write(["params", p.name], p.default ?? "")}
              >
                {t("special.give", { name: p.name })}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function aboutOf(p: Param, required: string): string {
  const value = p.default === undefined ? required : `= ${p.default}`;
  return `${p.type} ${value}`;
}

// A dynamic task gives its items and their places, too.
function itemsOf(target: Target): string[] {
  const over = target.read(["over"]);
  const names = Array.isArray(over) ? over.flatMap((one) => (isFields(one) && typeof one.name === "string" ? [one.name] : [])) : [];
  const index = textAt(target, ["index"]);
  return index === "" ? names : [...names, index];
}
