import { type FocusEvent, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { type Direction, defaults, type Points } from "../../domain/graph/layout";
import { Walker } from "../../domain/graph/walk";
import { useDoc, useDocument } from "../context";
import { showField } from "../text/go";
import { useClipboard } from "./clipboard";
import { press } from "./keys";
import { isTyping } from "./typing";
import type { BoardParts } from "./useBoard";

interface Props {
  board: BoardParts;
  points: Points;
  direction: Direction;
  frame: RefObject<HTMLDivElement | null>;
}

/**
 * useKeyboard makes the canvas one stop of the Tab key. Inside it the focus is on a task's node, and
 * goes with the choice; where nothing has the focus at all, the canvas takes the keys too.
 */
export function useKeyboard({ board, points, direction, frame }: Props) {
  const { acts, fly, ui } = board;
  const doc = useDocument();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const [inside, setInside] = useState(false);
  const walker = useMemo(() => new Walker(tasks, points, defaults.size, direction), [tasks, points, direction]);
  const latest = useRef({ walker, points });
  latest.current = { walker, points };
  const hasKeys = useCallback(
    (target: EventTarget | null) => {
      if (target === document.body || target === null) return true;
      return target instanceof Element && frame.current?.contains(target) === true && !target.closest("button, [role=dialog], [role=menu]");
    },
    [frame],
  );
  const openForm = useCallback(() => {
    const task = acts.chosen.at(-1);
    if (task !== undefined) showField({ task, path: ["name"] });
  }, [acts]);
  useEffect(() => {
    const down = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || isTyping(event.target)) return;
      if (event.key === "Escape" && ui.getState().layer && hasKeys(event.target)) return acts.close();
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "s") {
        event.preventDefault();
        window.dispatchEvent(new Event("porpoise:save"));
        return;
      }
      if (!hasKeys(event.target) || document.querySelector("[role=dialog]")) return;
      const here = nodeAt(event.target) ?? acts.chosen.at(-1);
      const go = (task: string, add: boolean) => {
        if (add) doc.select([...acts.chosen.filter((n) => n !== task), task]);
        else acts.choose(task);
        fly(task, true);
      };
      const leave = () => {
        if (doc.state.refusal) doc.refuse(undefined);
        else if (ui.getState().edges.length > 0) ui.setState({ edges: [] });
        else doc.select([]);
      };
      if (press(event, { acts, walker: latest.current.walker, here, go, openForm, leave })) event.preventDefault();
    };
    window.addEventListener("keydown", down);
    return () => window.removeEventListener("keydown", down);
  }, [acts, doc, fly, hasKeys, openForm, ui]);
  useClipboard(acts, hasKeys);
  const onFocus = useCallback(
    (event: FocusEvent<HTMLElement>) => {
      setInside(true);
      if (event.target !== event.currentTarget) return;
      const first = acts.chosen.at(-1) ?? Object.keys(latest.current.points)[0];
      if (first === undefined) return;
      if (event.currentTarget.matches(":focus-visible")) fly(first, true);
    },
    [acts, fly],
  );
  const onBlur = useCallback((event: FocusEvent<HTMLElement>) => {
    if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget))) setInside(false);
  }, []);
  // Inside, Shift+Tab must lead out and not to the canvas itself, which would send the focus in again.
  return { openForm, props: { tabIndex: inside ? -1 : 0, onFocus, onBlur } };
}

function nodeAt(target: EventTarget | null): string | undefined {
  const node = target instanceof Element ? target.closest(".react-flow__node") : null;
  return node?.getAttribute("data-id") ?? undefined;
}
