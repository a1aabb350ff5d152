import { ActionIcon, VisuallyHidden } from "@mantine/core";
import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import {
  BellRing,
  Boxes,
  CalendarClock,
  FolderTree,
  LayoutList,
  ListChecks,
  PanelLeft,
  Search,
  Server,
  ShieldCheck,
  Sun,
  UserCheck,
  Waypoints,
} from "lucide-react";
import { useMemo, useState } from "react";
import type { Me } from "../api/client";
import { useWaiting } from "../approval/useWaiting";
import { duration, offsetOf } from "../domain/format";
import { type Sentence, useSay } from "../i18n";
import { useNow } from "../live/clock";
import { live, useLiveInstances, useLiveStatus } from "../live/live";
import { Later } from "../parts/Later";
import { change, useSettings } from "../settings";
import { KeyList } from "./KeyList";
import { type Keys, useKeys } from "./keys";
import { Mark } from "./Mark";
import { openPalette } from "./openPalette";
import { Palette } from "./Palette";
import { zoneName } from "./Preferences";
import { SettingsMenu } from "./Settings";

interface Place {
  to: "/" | "/runs" | "/tasks" | "/approvals" | "/schedules" | "/lineage" | "/alerts" | "/resources" | "/projects" | "/cluster" | "/admin";
  label: Sentence;
  icon: typeof Sun;
  /** What lies below it, by the beginnings of routes; the first place that fits is where the person is. */
  below?: string[];
  phone?: Sentence; // its name in the bar at the bottom of a phone, where it is in it
  apart?: true; // a gap before it
}

const places: Place[] = [
  { to: "/", label: "nav.today", icon: Sun, phone: "nav.today" },
  { to: "/runs", label: "nav.runs", icon: LayoutList, below: ["/p/$project/r/"], phone: "nav.runs" },
  { to: "/tasks", label: "nav.tasks", icon: ListChecks },
  { to: "/approvals", label: "nav.approvals", icon: UserCheck, phone: "nav.approvals" },
  { to: "/schedules", label: "nav.schedules", icon: CalendarClock },
  { to: "/lineage", label: "nav.lineage", icon: Waypoints },
  { to: "/alerts", label: "nav.alerts", icon: BellRing },
  { to: "/resources", label: "nav.resources", icon: Boxes },
  { to: "/projects", label: "nav.projects", icon: FolderTree, below: ["/p/$project/"], phone: "nav.workflows", apart: true },
  { to: "/cluster", label: "nav.cluster", icon: Server, below: ["/cluster/"], phone: "nav.cluster" },
  { to: "/admin", label: "nav.admin", icon: ShieldCheck },
];

/** placeOf is the place to which a route belongs. */
function placeOf(route: string): Place["to"] | undefined {
  return (places.find((p) => p.to === route) ?? places.find((p) => p.below?.some((b) => route.startsWith(b))))?.to;
}

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

/** Count is how many things wait behind a place, for the eye and in words. */
function Count({ n }: { n: number }) {
  const { t } = useSay();
  return (
    <span className="place-count num">
      <span aria-hidden="true">{n > 99 ? "99+" : n}</span>
      <VisuallyHidden>{t("nav.approvalsWaiting", { count: n })}</VisuallyHidden>
    </span>
  );
}

interface Ways {
  className: string;
  waiting: number;
  of: "rail" | "bar" | "more";
}

/** Places are the ways to the pages: all of them in the rail, a few in the bar of a phone, the rest in its settings. */
function Places({ className, waiting, of }: Ways) {
  const { t } = useSay();
  const at = useRouterState({ select: (s) => placeOf(s.matches.at(-1)?.routeId ?? "") });
  const phone = of === "bar";
  return (
    <nav className={className} aria-label={t(of === "more" ? "nav.more" : "nav.main")}>
      {places
        .filter((p) => of === "rail" || phone === (p.phone !== undefined))
        .map(({ to, label, icon: Icon, phone: short, apart }) => (
          <Link
            key={to}
            to={to}
            search={{}}
            className={apart && of === "rail" ? "apart" : undefined}
            aria-current={to === at ? "page" : undefined}
            title={phone ? undefined : t(label)}
          >
            <Icon size={16} aria-hidden="true" />
            <span>{t((phone && short) || label)}</span>
            {to === "/approvals" && waiting > 0 && <Count n={waiting} />}
          </Link>
        ))}
    </nav>
  );
}

export function Shell({ me }: { me: Me }) {
  const { t } = useSay();
  const s = useSettings();
  const go = useNavigate();
  const project = useParams({ strict: false, select: (p) => p.project });
  const [keysOpen, setKeysOpen] = useState(false);
  useLiveInstances(true);
  const waiting = useWaiting().data?.length ?? 0;
  const keys = useMemo<Keys>(
    () => ({
      "mod+k": openPalette,
      "g t": () => void go({ to: "/" }),
      "g r": () => void go({ to: "/runs" }),
      "g k": () => void go({ to: "/tasks" }),
      "g v": () => void go({ to: "/approvals", search: {} }),
      "g s": () => void go({ to: "/schedules" }),
      "g l": () => void go({ to: "/lineage" }),
      "g a": () => void go({ to: "/alerts" }),
      "g p": () => void go({ to: "/projects" }),
      "g w": () => void go(project === undefined ? { to: "/projects" } : { to: "/p/$project/workflows", params: { project } }),
      "g m": () => void go({ to: "/admin" }),
      "g c": () => void go({ to: "/cluster" }),
      "?": () => setKeysOpen(true),
      "/": () => document.querySelector<HTMLElement>("[data-filter]")?.focus(),
    }),
    [go, project],
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
        <button type="button" className="find" onClick={openPalette}>
          <Search size={14} aria-hidden="true" />
          <span>{t("top.search")}</span>
          <kbd>Ctrl K</kbd>
        </button>
        <div className="top-end">
          <Connection />
          <span className="zone">
            <span className="zone-name">{zoneName(s.zone, t("top.zoneBrowser"))} </span>
            {offsetOf(s.zone, Date.now())}
          </span>
          <SettingsMenu me={me} onKeys={() => setKeysOpen(true)}>
            <Places className="settings-places" waiting={0} of="more" />
          </SettingsMenu>
        </div>
      </header>
      <Places className="rail" waiting={waiting} of="rail" />
      <main id="content" tabIndex={-1}>
        <Outlet />
      </main>
      <Places className="bottom-bar" waiting={waiting} of="bar" />
      <Later>
        <KeyList opened={keysOpen} onClose={() => setKeysOpen(false)} />
        <Palette onKeys={() => setKeysOpen(true)} />
      </Later>
    </div>
  );
}
