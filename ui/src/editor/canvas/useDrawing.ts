import { useCallback, useMemo, useRef } from "react";
import { useStore } from "zustand";
import type { Task } from "../../domain/document/read";
import { type Direction, defaults, type Points } from "../../domain/graph/layout";
import { graphOf } from "../../domain/graph/model";
import { type Rules, rulesOf } from "../../domain/graph/rules";
import { ruleWords } from "../../graph/branch";
import { type Scene, spotOf } from "../../graph/scene";
import { useSay, word } from "../../i18n";
import { useDoc } from "../context";
import { useRunStates } from "../versions/run";
import { EdgeCache, NodeCache } from "./nodes";
import type { CanvasStore } from "./ui";

interface Props {
  ui: CanvasStore;
  points: Points;
  /** Where the nodes are shown while they are dragged. */
  shown: Points;
  direction: Direction;
  locked: boolean;
}

/** useDrawing gives nodes, edges and the far view's scene of the document as it is. */
export function useDrawing({ ui, points, shown, direction, locked }: Props) {
  const { t } = useSay();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const selection = useDoc((s) => s.history.selection.tasks);
  const problems = useDoc((s) => s.problems.ofTask);
  const illegal = useStore(ui, (s) => s.illegal);
  const edgesChosen = useStore(ui, (s) => s.edges);
  const over = useStore(ui, (s) => s.over);
  const caches = useRef<{ nodes: NodeCache; edges: EdgeCache }>(undefined);
  caches.current ??= { nodes: new NodeCache(), edges: new EdgeCache() };
  const own = caches.current;
  const rules = useRules(tasks);
  const label = useCallback(
    (task: Task, count: number, state: string | undefined) => {
      const parts = [task.name, task.type === "" ? t("canvas.noType") : task.type];
      if (state !== undefined) parts.push(state ? word(t, "state", state) : t("state.outside"));
      if (count > 0) parts.push(t("canvas.problems", { count }));
      parts.push(...ruleWords(t, task, rules));
      const undo = rules.undone.get(task.name);
      if (undo !== undefined) parts.push(t("graph.undoneBy", { type: undo }));
      return parts.join(", ");
    },
    [t, rules],
  );
  const states = useRunStates();
  const chosen = useMemo(() => new Set(selection), [selection]);
  const nodes = useMemo(
    () =>
      own.nodes.nodes(tasks, {
        points: shown,
        direction,
        chosen,
        problems: (name) => problems.get(name)?.length ?? 0,
        illegal,
        locked,
        states,
        rules,
        label,
        role: t("canvas.nodeRole"),
      }),
    [own, tasks, shown, direction, chosen, problems, illegal, locked, states, rules, label, t],
  );
  const edges = useMemo(
    () => own.edges.edges(tasks, { points: shown, direction, rules, chosen: new Set(edgesChosen), target: over }),
    [own, tasks, shown, direction, rules, edgesChosen, over],
  );
  const lines = useMemo(() => graphOf(tasks).edges, [tasks]);
  const scene: Scene = useMemo(() => {
    const picked = new Set(selection);
    const spots = new Map(
      [...picked, ...(states?.keys() ?? [])].map((name) => [name, spotOf(states?.get(name), { dim: false, chosen: picked.has(name) })]),
    );
    return { points, size: defaults.size, edges: lines, spots, direction };
  }, [points, lines, selection, direction, states]);
  const tip = useCallback((task: string) => task, []);
  return { nodes, edges, scene, tip, linking: illegal !== undefined };
}

// The same object while the rules are the same: a new one would make every node anew.
function useRules(tasks: readonly Task[]): Rules {
  const kept = useRef<{ written: string; rules: Rules }>(undefined);
  return useMemo(() => {
    const rules = rulesOf(tasks);
    const written = JSON.stringify([[...rules.branches], [...rules.gates], [...rules.last], [...rules.undone]]);
    if (kept.current?.written !== written) kept.current = { written, rules };
    return kept.current.rules;
  }, [tasks]);
}
