import { Spotlight, type SpotlightActionGroupData } from "@mantine/spotlight";
import { useInfiniteQuery, useQueries, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Search } from "lucide-react";
import { useState } from "react";
import { instancesQuery, projectsQuery, workflowsQuery } from "../api/queries";
import { useSay } from "../i18n";
import { StateIcon } from "../parts/StateIcon";

/** maxProjects bounds whose workflows the palette asks for. */
const maxProjects = 20;

/** Palette finds pages, workflows and instances; what it lists is read when it opens. */
export function Palette() {
  const { t } = useSay();
  const go = useNavigate();
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const projects = useQuery({ ...projectsQuery, enabled: open });
  const workflows = useQueries({
    queries: (projects.data ?? []).slice(0, maxProjects).map((p) => ({ ...workflowsQuery(p.name), enabled: open })),
  });
  const latest = useInfiniteQuery({ ...instancesQuery({}, 20), enabled: open });
  const pages: SpotlightActionGroupData = {
    group: t("palette.pages"),
    actions: [
      { id: "today", label: t("nav.today"), onClick: () => void go({ to: "/" }) },
      { id: "runs", label: t("nav.runs"), onClick: () => void go({ to: "/runs" }) },
      { id: "projects", label: t("nav.projects"), onClick: () => void go({ to: "/projects" }) },
    ],
  };
  const flows: SpotlightActionGroupData = {
    group: t("palette.workflows"),
    actions: workflows
      .flatMap((q) => q.data ?? [])
      .map((w) => ({
        id: `w ${w.project}/${w.name}`,
        label: w.name,
        description: w.project,
        onClick: () => void go({ to: "/p/$project/w/$workflow", params: { project: w.project, workflow: w.name } }),
      })),
  };
  const known = latest.data?.pages.flatMap((p) => p.items) ?? [];
  const instances: SpotlightActionGroupData = {
    group: t("palette.instances"),
    actions: known.map((i) => ({
      id: `i ${i.id}`,
      label: `${i.workflow} ${i.id}`,
      description: i.project,
      leftSection: <StateIcon state={i.state} />,
      onClick: () => void go({ to: "/p/$project/r/$id", params: { project: i.project, id: i.id } }),
    })),
  };
  if (/^[1-9]\d{0,18}$/.test(text) && !known.some((i) => i.id === text)) {
    instances.actions.push({
      id: `i ${text}`,
      label: t("palette.instance", { id: text }),
      onClick: () => void go({ to: "/p/$project/r/$id", params: { project: "-", id: text } }),
    });
  }
  return (
    <Spotlight
      actions={[pages, flows, instances]}
      shortcut={null}
      query={text}
      onQueryChange={setText}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
      nothingFound={t("palette.nothing")}
      highlightQuery
      scrollable
      maxHeight={420}
      limit={30}
      lockScroll={false}
      transitionProps={{ duration: 120 }}
      searchProps={{ placeholder: t("palette.placeholder"), "aria-label": t("palette.placeholder"), leftSection: <Search size={16} /> }}
    />
  );
}
