import { CloseButton, TextInput } from "@mantine/core";
import { Search } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSay } from "../i18n";

interface Props {
  names: readonly string[];
  /** Called with each task that is found, so that the canvas can fly there. */
  onFound: (task: string) => void;
  /** Called when it closes; with a task, the one it was at. */
  onClose: (task: string | undefined) => void;
}

/** FindTask searches the tasks' names and goes from one to the next: Enter on, Shift+Enter back, Escape closes. */
export function FindTask({ names, onFound, onClose }: Props) {
  const { t } = useSay();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  // It was asked for by a key or a button: that is where the person types next.
  useEffect(() => field.current?.focus(), []);
  const hits = useMemo(() => matches(names, text), [names, text]);
  const here = hits[at];
  const soon = useSoon(onFound);
  const go = (n: number, wait: number, among = hits) => {
    const next = among.length === 0 ? 0 : (n + among.length) % among.length;
    setAt(next);
    soon(among[next], wait);
  };
  const said = text.trim() === "" ? "" : hits.length === 0 ? t("graph.findNone") : t("graph.findAt", { n: at + 1, of: hits.length });
  return (
    <search className="find-task">
      <TextInput
        ref={field}
        aria-label={t("graph.find")}
        placeholder={t("graph.find")}
        leftSection={<Search size={14} />}
        value={text}
        onChange={(event) => {
          const next = event.currentTarget.value;
          setText(next);
          go(0, typingPause, matches(names, next));
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") go(at + (event.shiftKey ? -1 : 1), 0);
          else if (event.key === "Escape") {
            if (here !== undefined) onFound(here); // what is typed counts, though the view has not followed yet
            onClose(here);
          } else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <span className="faint num" role="status">
        {said}
      </span>
      <CloseButton aria-label={t("graph.findClose")} onClick={() => onClose(here)} />
    </search>
  );
}

/** typingPause is how long it is quiet until the view follows what is typed: each letter would draw another screen, in ms. */
const typingPause = 120;

/**
 * useSoon calls with the latest task after the frame that shows the key's own effect: to draw another part of a
 * large graph takes longer than a letter may.
 */
function useSoon(call: (task: string) => void): (task: string | undefined, wait: number) => void {
  const latest = useRef(call);
  latest.current = call;
  const pending = useRef<{ frame: number; timer?: ReturnType<typeof setTimeout> }>({ frame: 0 });
  const stop = () => {
    cancelAnimationFrame(pending.current.frame);
    clearTimeout(pending.current.timer);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is pending ends with the search
  useEffect(() => stop, []);
  return (task, wait) => {
    stop();
    if (task === undefined) return;
    pending.current.frame = requestAnimationFrame(() => {
      pending.current.timer = setTimeout(() => latest.current(task), wait);
    });
  };
}

/** matches gives the names that hold a text, those that begin with it first. */
export function matches(names: readonly string[], text: string): string[] {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return [];
  const found = names.filter((n) => n.toLowerCase().includes(wanted));
  const rank = (n: string) => (n.toLowerCase() === wanted ? 0 : n.toLowerCase().startsWith(wanted) ? 1 : 2);
  return found.sort((a, b) => rank(a) - rank(b));
}
