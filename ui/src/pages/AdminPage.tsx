import { Tabs } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { AboutTab } from "../admin/AboutTab";
import { Audit } from "../admin/Audit";
import { CommonSecrets } from "../admin/CommonSecrets";
import { Users } from "../admin/Users";
import { useSay } from "../i18n";
import { useStay } from "../parts/useStay";
import { EnvironmentsTab } from "../project/EnvironmentsTab";
import { type AdminSearch, adminTabs } from "../searchPages";
import { useMe } from "../shell/me";
import "../account/account.css";
import "../schedule/schedule.css";
import "../admin/admin.css";

const route = getRouteApi("/admin");

/** AdminPage is what belongs to no project: people, the audit, what all projects share, the installation. */
export function AdminPage() {
  const { t } = useSay();
  const me = useMe();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const set = (part: Omit<AdminSearch, "tab">, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  const tab = search.tab ?? "users";
  if (!me.admin) {
    return (
      <div className="page">
        <h1>{t("admin.title")}</h1>
        <div className="empty">
          <h2>{t("admin.onlyTitle")}</h2>
          <p>{t("admin.only")}</p>
        </div>
      </div>
    );
  }
  const shared = { why: undefined, search, set };
  return (
    <div className="page">
      <h1>{t("admin.title")}</h1>
      <Tabs value={tab} onChange={(v) => void go({ search: { tab: adminTabs.find((x) => x === v) } })} keepMounted={false} className="tabs">
        <Tabs.List aria-label={t("admin.title")}>
          {adminTabs.map((x) => (
            <Tabs.Tab key={x} value={x}>
              {t(`admin.tab.${x}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="users" className="panel">
          <Users search={search} set={set} />
        </Tabs.Panel>
        <Tabs.Panel value="audit" className="panel">
          <Audit search={search} set={set} />
        </Tabs.Panel>
        <Tabs.Panel value="secrets" className="panel">
          <CommonSecrets {...shared} />
        </Tabs.Panel>
        <Tabs.Panel value="environments" className="panel">
          <EnvironmentsTab {...shared} />
        </Tabs.Panel>
        <Tabs.Panel value="about" className="panel">
          <AboutTab />
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}
