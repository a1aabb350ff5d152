import { Autocomplete } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { graphQuery, projectsQuery, workflowQuery, workflowsQuery } from "../../../api/queries";
import type { Path } from "../../../domain/document/path";
import { useSay } from "../../../i18n";
import { FieldRow, idOf, useErrors } from "../FieldRow";
import type { Target } from "../target";
import { shown } from "../values";
import { type ControlProps, leave, usePlaceholder } from "./Simple";

/** useProject is the project of the workflow that is edited. */
export function useProject(): string {
  return useParams({ from: "/p/$project/w/$workflow/edit" }).project;
}

/** useOwn is the workflow that is edited. */
function useOwn(): string {
  return useParams({ from: "/p/$project/w/$workflow/edit" }).workflow;
}

/** useNames are the names that may stand at a place: projects, workflows of a project, tasks of a workflow's published version. */
export function useNames(kind: "project" | "workflow" | "task", project: string, workflow: string): string[] {
  const own = useOwn();
  const home = useProject();
  const projects = useQuery({ ...projectsQuery, enabled: kind === "project" });
  const workflows = useQuery({ ...workflowsQuery(project), enabled: kind === "workflow", retry: false });
  const one = useQuery({ ...workflowQuery(project, workflow), enabled: kind === "task" && workflow !== "", retry: false });
  const published = one.data?.published ?? 0;
  const graph = useQuery({ ...graphQuery(project, workflow, published), enabled: kind === "task" && published > 0 });
  switch (kind) {
    case "project":
      return projects.data?.map((p) => p.name) ?? [];
    case "workflow":
      return workflows.data?.map((w) => w.name).filter((n) => project !== home || n !== own) ?? [];
    case "task":
      return graph.data?.tasks.map((x) => x.name) ?? [];
  }
}

/** textAt is what stands at a path as text. */
export function textAt(target: Target, path: Path): string {
  return shown(target.read(path));
}

/** NamedControl edits the name of a project or a workflow, and offers those that there are. */
export function NamedControl({ field, target }: ControlProps) {
  const { t } = useSay();
  const home = useProject();
  const errors = useErrors(field, target);
  const kind = field.hint === "project" ? "project" : "workflow";
  const project = textAt(target, ["project"]) || home;
  const names = useNames(kind, project, "");
  const text = textAt(target, field.path);
  const grey = usePlaceholder(field, target);
  return (
    <FieldRow field={field} target={target} errors={errors} quiet>
      <Autocomplete
        id={idOf(field.path)}
        size="xs"
        data={names}
        limit={50}
        value={text}
        placeholder={grey ?? (kind === "project" ? t("special.sameProject", { project: home }) : t("special.chooseWorkflow"))}
        error={errors.text}
        autoComplete="off"
        spellCheck={false}
        onChange={(after) => target.type(field.path, after, { before: text, after })}
        onBlur={() => leave(field, target)}
      />
      {kind === "workflow" && names.includes(text) && (
        // Beside the editor: what is unsaved in it stays where it is.
        <Link className="named-open" to="/p/$project/w/$workflow" params={{ project, workflow: text }} target="_blank" rel="noreferrer">
          {t("special.open", { workflow: text })}
        </Link>
      )}
    </FieldRow>
  );
}
