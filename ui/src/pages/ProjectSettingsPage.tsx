import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useSay } from "../i18n";
import { ProjectNav } from "../parts/ProjectNav";
import { useStay } from "../parts/useStay";
import { CalendarsTab } from "../project/CalendarsTab";
import { EnvironmentsTab } from "../project/EnvironmentsTab";
import { GroupsTab } from "../project/GroupsTab";
import { ParamsTab } from "../project/ParamsTab";
import { SecretsTab } from "../project/SecretsTab";
import { type SettingsSearch, type SettingsTab, settingsTabs } from "../searchPages";
import { useWhyNot } from "../shell/me";
import "../account/account.css";
import "../schedule/schedule.css";

const route = getRouteApi("/p/$project/settings");

const bodies = {
  params: ParamsTab,
  secrets: SecretsTab,
  environments: EnvironmentsTab,
  groups: GroupsTab,
  calendars: CalendarsTab,
} as const satisfies Record<SettingsTab, unknown>;

/** ProjectSettingsPage is what the tasks of a project share. */
export function ProjectSettingsPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const why = useWhyNot(project)("editor");
  const set = (part: Omit<SettingsSearch, "tab">, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const tab = search.tab ?? "params";
  const Body = bodies[tab];
  return (
    <div className="page">
      <ProjectNav project={project} />
      <h1>{t("settings.titleOf", { project })}</h1>
      <Tabs
        value={tab}
        onChange={(v) => void go({ search: { tab: settingsTabs.find((x) => x === v) } })}
        keepMounted={false}
        className="tabs"
      >
        <Tabs.List aria-label={t("settings.titleOf", { project })}>
          {settingsTabs.map((x) => (
            <Tabs.Tab key={x} value={x}>
              {t(`settings.tab.${x}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={tab} className="panel">
          <Body key={`${project} ${tab}`} project={project} why={why} search={search} set={set} />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
