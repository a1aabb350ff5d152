import { type KeyboardEvent, useRef } from "react";
import { useSay } from "../../i18n";
import type { Tab } from "./sections";

interface Props {
  tabs: readonly Tab[];
  at: Tab;
  /** counts has how many problems a part has. */
  counts: Readonly<Partial<Record<Tab, number>>>;
  onChoose: (tab: Tab) => void;
}

/** Tabs are the parts of a form; each says how many problems it has. */
export function Tabs({ tabs, at, counts, onChoose }: Props) {
  const { t } = useSay();
  const list = useRef<HTMLDivElement>(null);
  const keys = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = tabs[(tabs.indexOf(at) + by + tabs.length) % tabs.length];
    if (by === 0 || !next) return;
    event.preventDefault();
    onChoose(next);
    list.current?.querySelector<HTMLElement>(`#form-tab-${next}`)?.focus();
  };
  return (
    <div className="form-tabs" role="tablist" aria-label={t("form.tabs")} ref={list} onKeyDown={keys}>
      {tabs.map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`form-tab-${tab}`}
          aria-controls="form-part"
          aria-selected={tab === at}
          tabIndex={tab === at ? 0 : -1}
          onClick={() => onChoose(tab)}
        >
          {t(`form.tab.${tab}`)}
          {(counts[tab] ?? 0) > 0 && (
            <span className="form-count" title={t("form.problems", { count: counts[tab] ?? 0 })}>
              {counts[tab]}
            </span>
          )}
        </button>
      ))}
    </div>
  );
}
