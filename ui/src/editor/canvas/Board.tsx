import { ReactFlow, ViewportPortal } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "zustand";
import { type Direction, defaults, type Points, type Size } from "../../domain/graph/layout";
import { fitAll, opening } from "../../domain/graph/view";
import { FarView, useFar } from "../../graph/FarView";
import { MiniView } from "../../graph/MiniView";
import { useSay } from "../../i18n";
import { useDoc } from "../context";
import { useOpened } from "../form/useTaskInURL";
import { CanvasTools } from "./CanvasTools";
import { EdgePlus } from "./EdgePlus";
import { Layers } from "./Layers";
import { Notices } from "./Notices";
import type { CanvasNode } from "./nodes";
import { Palette } from "./Palette";
import { SnapLines } from "./SnapLines";
import { TaskNode } from "./TaskNode";
import { useBoard } from "./useBoard";
import { useDrawing } from "./useDrawing";
import { useKeyboard } from "./useKeyboard";
import { useMouse } from "./useMouse";

const nodeTypes = { task: TaskNode };
const noNodes: CanvasNode[] = [];
const noEdges: never[] = [];
const { size } = defaults;
/** Where an overview begins to help: fewer tasks are seen at a glance. */
const overviewFrom = 30;
/** Above this many tasks only those on the screen are in the document. */
const cullFrom = 60;
/** The palette's part of the width, which the view must not open under. */
const paletteWidth = 180;
/** On a canvas narrower than this the palette waits behind its button. */
const narrowUnder = 520;
const keys = ["Control", "Meta", "Shift"];

interface Props {
  points: Points;
  direction: Direction;
  turn: (direction: Direction) => void;
  box: Size;
}

/** Board is the canvas once all tasks have a place. */
export function Board({ points, direction, turn, box }: Props) {
  const { t } = useSay();
  const frame = useRef<HTMLDivElement>(null);
  const away = useFar();
  const tasks = useDoc((s) => s.reading.model.tasks);
  const board = useBoard({ points, direction, turn, frame });
  const { acts, ui, locked } = board;
  const leaving = useStore(ui, (s) => s.leaving);
  const far = away || leaving;
  const mouse = useMouse({ board, points });
  const drawing = useDrawing({ ui, points, shown: mouse.shown, direction, locked: locked !== undefined });
  const keyboard = useKeyboard({ board, points, direction, frame });
  const opened = useOpened();
  const late = useRef(opened !== undefined && !points[opened]);
  const { fly } = board;
  // A long workflow's tasks get their places one after the other.
  useEffect(() => {
    if (!late.current || opened === undefined || !points[opened]) return;
    late.current = false;
    fly(opened, false);
  }, [points, opened, fly]);
  const [first] = useState(() =>
    opening(points, size, { ...box, width: box.width - (box.width < narrowUnder ? 44 : paletteWidth) }, opened),
  );
  const least = useMemo(() => Math.min(0.1, fitAll(points, size, { width: 320, height: 240 }).zoom), [points]);
  const fit = board.fit;
  const pick = useCallback((type: string) => acts.addType(type), [acts]);
  return (
    <div className="canvas-body">
      {!locked && <Palette narrow={box.width < narrowUnder} onPick={pick} onOver={mouse.paletteOver} onDrop={mouse.paletteDrop} />}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the menu key and the right button open the same menu */}
      <div className="canvas-frame" ref={frame} onContextMenu={mouse.onContextMenu} data-linking={drawing.linking || undefined}>
        <ReactFlow
          className="canvas-flow"
          role="group"
          aria-label={t("canvas.label", { count: tasks.length })}
          aria-describedby="canvas-keys"
          nodes={far ? noNodes : drawing.nodes}
          edges={far ? noEdges : drawing.edges}
          nodeTypes={nodeTypes}
          defaultViewport={first}
          minZoom={least}
          maxZoom={2}
          {...keyboard.props}
          {...mouse.props}
          nodesDraggable={!locked}
          nodesConnectable={!locked}
          edgesReconnectable={!locked}
          nodesFocusable={false}
          edgesFocusable={false}
          disableKeyboardA11y
          connectOnClick={false}
          connectionRadius={1}
          reconnectRadius={12}
          nodeDragThreshold={2}
          onlyRenderVisibleElements={tasks.length > cullFrom}
          panOnScroll
          zoomOnDoubleClick={false}
          deleteKeyCode={null}
          selectionKeyCode="Shift"
          multiSelectionKeyCode={keys}
          proOptions={hide}
        >
          <FarView scene={drawing.scene} tip={drawing.tip} onChoose={(task) => acts.choose(task)} />
          {tasks.length > overviewFrom && <MiniView scene={drawing.scene} />}
          <ViewportPortal>
            <SnapLines lines={mouse.lines} direction={direction} />
            {!locked && !far && (
              <EdgePlus edge={mouse.hovered} points={points} onPlus={mouse.plus} onLeave={mouse.leavePlus} onEnter={mouse.enterPlus} />
            )}
          </ViewportPortal>
        </ReactFlow>
        <Notices ui={ui} locked={locked} empty={tasks.length === 0} onAdd={() => acts.pickAfter([])} />
        <CanvasTools
          direction={direction}
          locked={locked !== undefined}
          onFit={fit}
          onFind={() => acts.open({ kind: "find" })}
          onArrange={(d) => void acts.arrange(d)}
        />
        <Layers ui={ui} acts={acts} frame={frame} locked={locked !== undefined} onFit={fit} onOpenForm={keyboard.openForm} onFly={fly} />
      </div>
    </div>
  );
}

const hide = { hideAttribution: true };
