import { useSyncExternalStore } from "react";
import type { Language } from "./i18n";

// What a person has chosen for this browser. A page's own state is in its URL instead.

export interface Settings {
  language: Language;
  zone: string; // "browser" or a name that Intl knows
  density: "compact" | "comfortable";
  letters: boolean; // whether single letters are shortcuts (WCAG 2.1.4)
  railOpen: boolean;
  logWrap: boolean;
  logSize: number; // of its letters: a step of logSizes
  logDock: "right" | "bottom";
  hidden: readonly string[]; // columns of lists of instances
}

/** logSizes are the steps of a log's letters, in pixels. */
export const logSizes = [11, 12.5, 14, 16, 18] as const;

const key = "porpoise.settings";
const watchers = new Set<() => void>();

function initial(): Settings {
  const zh = navigator.languages.some((l) => l.toLowerCase().startsWith("zh"));
  const base: Settings = {
    language: zh ? "zh-CN" : "en",
    zone: "browser",
    density: "compact",
    letters: true,
    railOpen: true,
    logWrap: false,
    logSize: 1,
    logDock: "right",
    hidden: [],
  };
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? "{}");
    // Only our own page writes this key; a field of another type falls back below.
    if (typeof kept === "object" && kept !== null) return checked({ ...base, ...kept }, base);
  } catch {
    // Storage is off or damaged: the defaults do.
  }
  return base;
}

function checked(s: Settings, base: Settings): Settings {
  return {
    language: s.language === "en" || s.language === "zh-CN" ? s.language : base.language,
    zone: typeof s.zone === "string" && (s.zone === "browser" || zoneExists(s.zone)) ? s.zone : "browser",
    density: s.density === "comfortable" ? "comfortable" : "compact",
    letters: s.letters !== false,
    railOpen: s.railOpen !== false,
    logWrap: s.logWrap === true,
    logSize: logSizes[s.logSize] === undefined ? base.logSize : s.logSize,
    logDock: s.logDock === "bottom" ? "bottom" : "right",
    hidden: Array.isArray(s.hidden) ? s.hidden.filter((c) => typeof c === "string") : base.hidden,
  };
}

function zoneExists(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

let current = initial();

export function settings(): Settings {
  return current;
}

export function change(part: Partial<Settings>): void {
  current = { ...current, ...part };
  try {
    localStorage.setItem(key, JSON.stringify(current));
  } catch {
    // Storage is off: the choice lasts for this visit.
  }
  for (const watcher of watchers) watcher();
}

function watch(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

export function useSettings(): Settings {
  return useSyncExternalStore(watch, settings);
}
