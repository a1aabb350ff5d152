import { ActionIcon } from "@mantine/core";
import { spotlight } from "@mantine/spotlight";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { FolderTree, LayoutList, PanelLeft, Search, Sun } from "lucide-react";
import { useMemo, useState } from "react";
import type { Me } from "../api/client";
import { duration } from "../domain/format";
import { type Sentence, useSay } from "../i18n";
import { useNow } from "../live/clock";
import { live, useLiveInstances, useLiveStatus } from "../live/live";
import { change, useSettings } from "../settings";
import { KeyList } from "./KeyList";
import { type Keys, useKeys } from "./keys";
import { Mark } from "./Mark";
import { Palette } from "./Palette";
import { zoneLabel } from "./Preferences";
import { SettingsMenu } from "./Settings";

const places: { to: "/" | "/runs" | "/projects"; label: Sentence; icon: typeof Sun }[] = [
  { to: "/", label: "nav.today", icon: Sun },
  { to: "/runs", label: "nav.runs", icon: LayoutList },
  { to: "/projects", label: "nav.projects", icon: FolderTree },
];

/** Connection says how old the page's word is; the age of what lives ticks. */
function Connection() {
  const { t } = useSay();
  const status = useLiveStatus();
  const now = useNow();
  const heard = live.heardAt();
  const age =
    heard === 0
      ? "–"
      : duration(Math.max(0, Math.floor((now - heard) / 1000) * 1000))
          .replace("0 ms", "0 s")
          .replace(".0 s", " s");
  const text = status === "live" ? t("live.live", { age }) : status === "stale" ? t("live.stale", { age }) : t("live.connecting");
  return (
    <span className={`connection ${status}`} title={text}>
      <i aria-hidden="true" />
      <span className="connection-text">{text}</span>
    </span>
  );
}

function Places({ className }: { className: string }) {
  const { t } = useSay();
  return (
    <nav className={className} aria-label={t("nav.main")}>
      {places.map(({ to, label, icon: Icon }) => (
        <Link key={to} to={to} activeOptions={{ exact: to === "/", includeSearch: false }} activeProps={{ "aria-current": "page" }}>
          <Icon size={16} aria-hidden="true" />
          <span>{t(label)}</span>
        </Link>
      ))}
    </nav>
  );
}

export function Shell({ me }: { me: Me }) {
  const { t } = useSay();
  const s = useSettings();
  const go = useNavigate();
  const [keysOpen, setKeysOpen] = useState(false);
  useLiveInstances(true);
  const keys = useMemo<Keys>(
    () => ({
      "mod+k": () => spotlight.open(),
      "g t": () => void go({ to: "/" }),
      "g r": () => void go({ to: "/runs" }),
      "g p": () => void go({ to: "/projects" }),
      "?": () => setKeysOpen(true),
      "/": () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
    }),
    [go],
  );
  useKeys(keys);
  return (
    <div className="shell" data-rail={s.railOpen ? "open" : "closed"}>
      <a className="skip" href="#content">
        {t("nav.skip")}
      </a>
      <header className="top">
        <ActionIcon
          className="rail-toggle"
          aria-label={t("nav.main")}
          aria-expanded={s.railOpen}
          onClick={() => change({ railOpen: !s.railOpen })}
        >
          <PanelLeft size={16} />
        </ActionIcon>
        <Link to="/" className="brand" aria-label="Porpoise">
          <Mark />
          <span>Porpoise</span>
        </Link>
        <button type="button" className="find" onClick={() => spotlight.open()}>
          <Search size={14} aria-hidden="true" />
          <span>{t("top.search")}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <div className="top-end">
          <Connection />
          <span className="zone">{zoneLabel(s.zone, t("top.zoneBrowser"))}</span>
          <SettingsMenu me={me} onKeys={() => setKeysOpen(true)} />
        </div>
      </header>
      <Places className="rail" />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <Places className="bottom-bar" />
      <KeyList opened={keysOpen} onClose={() => setKeysOpen(false)} />
      <Palette />
    </div>
  );
}
