import { ActionIcon, Menu, SegmentedControl, Select, Switch, useMantineColorScheme } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Settings as Gear } from "lucide-react";
import type { Me } from "../api/client";
import { signOut } from "../api/commands";
import { sessionQuery } from "../api/queries";
import { offsetOf } from "../domain/format";
import { type Language, languages, speak, useSay } from "../i18n";
import { change, useSettings } from "../settings";

const zones = [
  "UTC",
  "Asia/Shanghai",
  "Asia/Tokyo",
  "Asia/Kolkata",
  "Europe/Berlin",
  "Europe/London",
  "America/New_York",
  "America/Los_Angeles",
];

export function zoneLabel(zone: string, browser: string): string {
  return `${zone === "browser" ? browser : zone} ${offsetOf(zone, Date.now())}`;
}

function Row({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="setting">
      <span>{label}</span>
      {children}
    </div>
  );
}

export function SettingsMenu({ me, onKeys }: { me: Me; onKeys: () => void }) {
  const { t } = useSay();
  const s = useSettings();
  const scheme = useMantineColorScheme();
  const client = useQueryClient();
  const leave = async () => {
    await signOut().catch(() => undefined); // a session that is gone is signed out too
    client.setQueryData(sessionQuery.queryKey, null);
    // The next person must not see what this one has read.
    client.removeQueries({ predicate: (q) => q.queryKey[0] !== "session" });
  };
  const choices = [
    { value: "browser", label: zoneLabel("browser", t("top.zoneBrowser")) },
    ...zones.map((z) => ({ value: z, label: zoneLabel(z, "") })),
  ];
  if (!choices.some((c) => c.value === s.zone)) choices.push({ value: s.zone, label: zoneLabel(s.zone, "") });
  return (
    <Menu position="bottom-end" width={300} closeOnItemClick={true} trapFocus>
      <Menu.Target>
        <ActionIcon aria-label={t("top.settings")}>
          <Gear size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{t("top.user", { name: me.name })}</Menu.Label>
        <Row label={t("top.language")}>
          <SegmentedControl
            aria-label={t("top.language")}
            data={languages}
            value={s.language}
            onChange={(v) => {
              const language: Language = v === "zh-CN" ? "zh-CN" : "en";
              change({ language });
              void speak(language);
            }}
          />
        </Row>
        <Row label={t("top.theme")}>
          <SegmentedControl
            aria-label={t("top.theme")}
            data={[
              { value: "light", label: t("top.themeLight") },
              { value: "dark", label: t("top.themeDark") },
              { value: "auto", label: t("top.themeAuto") },
            ]}
            value={scheme.colorScheme}
            onChange={(v) => scheme.setColorScheme(v === "light" || v === "dark" ? v : "auto")}
          />
        </Row>
        <Row label={t("top.density")}>
          <SegmentedControl
            aria-label={t("top.density")}
            data={[
              { value: "compact", label: t("top.densityCompact") },
              { value: "comfortable", label: t("top.densityComfortable") },
            ]}
            value={s.density}
            onChange={(v) => change({ density: v === "comfortable" ? v : "compact" })}
          />
        </Row>
        <Row label={t("top.zone")}>
          <Select
            aria-label={t("top.zone")}
            data={choices}
            value={s.zone}
            onChange={(v) => change({ zone: v ?? "browser" })}
            comboboxProps={{ withinPortal: false }}
            w={170}
          />
        </Row>
        <Row label={t("top.letters")}>
          <Switch aria-label={t("top.letters")} checked={s.letters} onChange={(e) => change({ letters: e.currentTarget.checked })} />
        </Row>
        <Menu.Divider />
        <Menu.Item onClick={onKeys}>{t("top.shortcuts")}</Menu.Item>
        <Menu.Item component="a" href={new URL("docs", document.baseURI).href} target="_blank" rel="noreferrer">
          {t("top.docs")}
        </Menu.Item>
        <Menu.Item onClick={() => void leave()}>{t("top.signOut")}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
