import { type RefObject, useMemo } from "react";
import { useStore } from "zustand";
import { type BranchKey, branchesTo, casesOf } from "../../domain/document/branches";
import type { Point } from "../../domain/graph/layout";
import { illegalTargets } from "../../domain/graph/model";
import { FindTask } from "../../graph/FindTask";
import { TypeIcon } from "../../graph/TaskNodeBody";
import { useSay } from "../../i18n";
import { useDoc } from "../context";
import { useTaskTypes } from "../taskTypes";
import type { Acts } from "./acts";
import { CanvasMenu } from "./CanvasMenu";
import { endsOf } from "./nodes";
import { type Choice, PickList } from "./PickList";
import type { CanvasStore, Layer } from "./ui";

interface Props {
  ui: CanvasStore;
  acts: Acts;
  frame: RefObject<HTMLDivElement | null>;
  locked: boolean;
  onFit: () => void;
  onOpenForm: () => void;
  onFly: (task: string, focus: boolean) => void;
}

/** Layers draws the one small window that is open. */
export function Layers(props: Props) {
  const layer = useStore(props.ui, (s) => s.layer);
  const { acts, frame } = props;
  if (!layer) return null;
  if (layer.kind === "find") return <Find {...props} />;
  const at = inside(layer.screen, frame.current);
  switch (layer.kind) {
    case "types":
      return <Types acts={acts} layer={layer} at={at} />;
    case "connect":
      return <Connect acts={acts} layer={layer} at={at} />;
    case "edges":
      return <Edges acts={acts} layer={layer} at={at} />;
    case "branch":
      return <Branches acts={acts} layer={layer} at={at} />;
    case "menu":
      return <CanvasMenu layer={layer} at={at} acts={acts} locked={props.locked} onFit={props.onFit} onOpenForm={props.onOpenForm} />;
  }
}

interface ListProps<K extends Layer["kind"]> {
  acts: Acts;
  layer: Extract<Layer, { kind: K }>;
  at: Point;
}

function Types({ acts, layer, at }: ListProps<"types">) {
  const { t } = useSay();
  const types = useTaskTypes();
  const choices = useMemo(
    () => types.map((x): Choice => ({ value: x.type, label: x.type, icon: <TypeIcon type={x.type} size={15} />, hint: x.description })),
    [types],
  );
  return (
    <PickList
      label={t("canvas.pickType")}
      choices={choices}
      at={at}
      onPick={(type) => acts.addType(type, layer.added)}
      onClose={() => acts.close()}
    />
  );
}

const why = { self: "canvas.illegalSelf", duplicate: "canvas.illegalDuplicate", cycle: "canvas.illegalCycle" } as const;

function Connect({ acts, layer: { from }, at }: ListProps<"connect">) {
  const { t } = useSay();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const choices = useMemo(() => {
    const illegal = illegalTargets(tasks, from);
    return tasks.flatMap((task): Choice[] => {
      const code = illegal.get(task.name);
      if (task.name === "" || code === "self") return [];
      return [
        { value: task.name, label: task.name, icon: <TypeIcon type={task.type} size={15} />, ...(code && { refused: t(why[code]) }) },
      ];
    });
  }, [tasks, from, t]);
  return (
    <PickList
      label={t("canvas.pickTarget", { from })}
      choices={choices}
      at={at}
      onPick={(to) => {
        acts.connect(from, to);
        if (!acts.branches(from)) acts.refocus();
      }}
      onClose={() => acts.close()}
    />
  );
}

function Edges({ acts, layer: { of }, at }: ListProps<"edges">) {
  const { t } = useSay();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const choices = useMemo(() => {
    const into = tasks.find((x) => x.name === of)?.needs ?? [];
    const out = tasks.filter((x) => x.needs.includes(of)).map((x) => x.name);
    return [
      ...into.map((from): Choice => ({ value: `${from}>${of}`, label: `${from} → ${of}`, hint: t("canvas.edgeRemove") })),
      ...out.map((to): Choice => ({ value: `${of}>${to}`, label: `${of} → ${to}`, hint: t("canvas.edgeRemove") })),
      // Names have no equals sign: what begins with one asks for the branch of its edge.
      ...[...into.map((from) => ({ from, to: of })), ...out.map((to) => ({ from: of, to }))]
        .filter(({ from }) => acts.branches(from))
        .map(({ from, to }): Choice => ({ value: `=${from}>${to}`, label: `${from} → ${to}`, hint: t("canvas.edgeBranch") })),
    ];
  }, [tasks, of, t, acts]);
  return (
    <PickList
      label={t("canvas.pickEdge", { task: of })}
      choices={choices}
      at={at}
      onPick={(id) => {
        if (id.startsWith("=")) return acts.askBranch(endsOf(id.slice(1)));
        acts.disconnectById(id);
        acts.refocus();
      }}
      onClose={() => acts.close()}
    />
  );
}

function Branches({ acts, layer: { edge }, at }: ListProps<"branch">) {
  const { t } = useSay();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const choices = useMemo(() => {
    const task = tasks.find((x) => x.name === edge.from);
    if (!task) return [];
    const now = branchesTo(task, edge.to);
    const drawn = tasks.find((x) => x.name === edge.to)?.needs.includes(edge.from);
    const row = (key: BranchKey, label: string, words: string): Choice => ({
      value: String(key),
      label,
      hint: drawn && now.includes(key) ? t("canvas.branchNow") : words,
    });
    return [
      ...casesOf(task).map(({ when }, i) => row(i, t("form.cases.one", { n: i + 1 }), when)),
      row("else", t("canvas.branchElse"), t("canvas.branchElseNote")),
      row("any", t("canvas.branchAny"), t("canvas.branchAnyNote")),
    ];
  }, [tasks, edge, t]);
  return (
    <PickList
      label={t("canvas.pickBranch", { ...edge })}
      choices={choices}
      at={at}
      onPick={(key) => {
        acts.branch(edge, key === "else" || key === "any" ? key : Number(key));
        acts.refocus();
      }}
      onClose={() => acts.close()}
    />
  );
}

function Find({ acts, onFly }: Props) {
  const tasks = useDoc((s) => s.reading.model.tasks);
  const names = useMemo(() => tasks.map((x) => x.name), [tasks]);
  return (
    <FindTask
      names={names}
      onFound={(task) => {
        acts.choose(task);
        onFly(task, false);
      }}
      onClose={() => acts.close()}
    />
  );
}

// The window's corner in the frame, so that a list of usual size stays inside of it.
const listSize = { width: 280, height: 300 };

function inside(screen: Point, frame: HTMLDivElement | null): Point {
  const box = frame?.getBoundingClientRect();
  if (!box) return { x: 0, y: 0 };
  return {
    x: Math.max(8, Math.min(screen.x - box.left, box.width - listSize.width - 8)),
    y: Math.max(8, Math.min(screen.y - box.top, box.height - listSize.height - 8)),
  };
}
