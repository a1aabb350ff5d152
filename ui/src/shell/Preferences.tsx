import { SegmentedControl, Select, Switch, useMantineColorScheme } from "@mantine/core";
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

/** zoneName is what a zone is called; browser is the word for the browser's own. */
export function zoneName(zone: string, browser: string): string {
  return zone === "browser" ? browser : zone;
}

function zoneLabel(zone: string, browser: string): string {
  return `${zoneName(zone, browser)} ${offsetOf(zone, Date.now())}`;
}

/** everyZone is what the browser knows; the menu offers only a few of them. */
export function everyZone(): string[] {
  return [...new Set([...zones, ...Intl.supportedValuesOf("timeZone")])];
}

function Row({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    <div className="setting">
      <span>{label}</span>
      {children}
    </div>
  );
}

/** Preferences are what a person has chosen for this browser; each holds at once. */
export function Preferences({ all = false }: { all?: boolean }) {
  const { t } = useSay();
  const s = useSettings();
  // To hold transitions back while the colours change, the library would write a style sheet into the page.
  const scheme = useMantineColorScheme({ keepTransitions: true });
  const choices = [
    { value: "browser", label: zoneLabel("browser", t("top.zoneBrowser")) },
    ...(all ? everyZone() : zones).map((z) => ({ value: z, label: all && !zones.includes(z) ? z : zoneLabel(z, "") })),
  ];
  if (!choices.some((c) => c.value === s.zone)) choices.push({ value: s.zone, label: zoneLabel(s.zone, "") });
  return (
    <>
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
          searchable={all}
          w={all ? 220 : 170}
        />
      </Row>
      <Row label={t("top.letters")}>
        <Switch aria-label={t("top.letters")} checked={s.letters} onChange={(e) => change({ letters: e.currentTarget.checked })} />
      </Row>
    </>
  );
}
