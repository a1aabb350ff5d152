import { Select } from "@mantine/core";
import { Maximize2, Minimize2, PanelBottom, PanelRight, SquareArrowOutUpRight, X } from "lucide-react";
import { type ReactNode, useEffect } from "react";
import type { Attempt } from "../api/client";
import { useSay, word } from "../i18n";
import { StateIcon } from "../parts/StateIcon";
import { Took } from "../parts/Times";
import type { TaskSearch } from "../search";
import { change, useSettings } from "../settings";
import { Tool } from "./FindBar";
import "./log.css";
import { messageWords } from "../parts/messageWords";
import { LogOutput } from "./LogOutput";

interface Props {
  tabs: ReactNode; // what else there is to see of the task
  id: string;
  task: string;
  attempts: Attempt[];
  attempt: number;
  search: TaskSearch;
  set: (part: TaskSearch, replace?: boolean) => void;
  onClose: () => void;
}

/** LogPanel shows the output of one attempt and says how that attempt ended. */
export function LogPanel({ tabs, id, task, attempts, attempt, search, set, onClose }: Props) {
  const { t } = useSay();
  const { logDock } = useSettings();
  const one = attempts.find((a) => a.number === attempt);
  const full = search.full === "1";
  useEscape(full, () => set({ full: undefined }));
  return (
    <section className="log-panel" aria-label={t("log.title", { task })} data-full={full} data-dock={logDock}>
      <div className="log-head">
        {tabs}
        <h2 title={task}>{task}</h2>
        <div className="log-head-tools">
          {!full && (
            <span className="log-wide">
              <Tool
                word={logDock === "right" ? "log.dockBottom" : "log.dockRight"}
                onClick={() => change({ logDock: logDock === "right" ? "bottom" : "right" })}
              >
                {logDock === "right" ? <PanelBottom size={16} /> : <PanelRight size={16} />}
              </Tool>
            </span>
          )}
          <Tool word={full ? "log.fullEnd" : "log.full"} onClick={() => set({ full: full ? undefined : "1" })}>
            {full ? <Minimize2 size={16} /> : <Maximize2 size={16} />}
          </Tool>
          <span className="log-wide">
            <Tool word="log.window" onClick={ownWindow}>
              <SquareArrowOutUpRight size={16} />
            </Tool>
          </span>
          <Tool word="log.close" onClick={onClose}>
            <X size={16} />
          </Tool>
        </div>
      </div>
      {one && <Facts attempts={attempts} one={one} onAttempt={(n) => set({ attempt: String(n), line: undefined }, true)} />}
      {one?.message && one.reason !== "exit_code" && <p className="log-message">{messageWords(t, one.message)}</p>}
      {one ? (
        <LogOutput
          key={`${id}/${task}/${attempt}/${search.out ?? ""}`}
          output={{ id, task, attempt, stream: search.out }}
          attempts={attempts.length}
          line={search.line}
          set={set}
        />
      ) : (
        <p className="empty">{t("run.notStarted")}</p>
      )}
    </section>
  );
}

/** ownWindow opens this very view, with nothing but the log. */
function ownWindow(): void {
  const url = new URL(window.location.href);
  url.searchParams.set("full", "1");
  window.open(url.href, "_blank", "noopener");
}

/** useEscape closes the outermost layer only: it hears the key before the page does. */
function useEscape(on: boolean, run: () => void): void {
  useEffect(() => {
    if (!on) return;
    const press = (event: KeyboardEvent) => {
      if (
        event.key !== "Escape" ||
        event.defaultPrevented ||
        document.querySelector("[role=dialog], [role=menu], [role=listbox], .log-find")
      )
        return;
      event.preventDefault();
      event.stopPropagation();
      run();
    };
    window.addEventListener("keydown", press, { capture: true });
    return () => window.removeEventListener("keydown", press, { capture: true });
  }, [on, run]);
}

function Facts({ attempts, one, onAttempt }: { attempts: Attempt[]; one: Attempt; onAttempt: (n: number) => void }) {
  const { t } = useSay();
  return (
    <p className="log-attempt">
      <StateIcon state={one.state} label={word(t, "state", one.state)} />
      {attempts.length > 1 ? (
        <Select
          aria-label={t("log.attempt")}
          data={attempts.map((a) => ({ value: String(a.number), label: `${a.number}: ${word(t, "state", a.state)}` }))}
          value={String(one.number)}
          onChange={(v) => onAttempt(Number(v))}
          w={120}
        />
      ) : (
        <span>{t("run.rootCauseAttempt", { n: one.number })}</span>
      )}
      <span>
        {one.reason ? word(t, "reason", one.reason) : word(t, "state", one.state)}
        {one.reason === "exit_code" || one.exit_code !== 0 ? ` (${one.exit_code})` : ""}
      </span>
      {one.worker && <span className="faint">{t("run.onWorker", { worker: one.worker })}</span>}
      <Took from={one.started_at} to={one.finished_at} live />
    </p>
  );
}
