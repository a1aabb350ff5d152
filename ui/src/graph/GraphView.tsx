import "@xyflow/react/dist/base.css";
import "./graph.css";
import { Button, Switch } from "@mantine/core";
import { type Edge, Handle, MiniMap, type Node, type NodeProps, Position, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { Maximize, Minus, Plus } from "lucide-react";
import { memo, useEffect, useMemo } from "react";
import { isTrouble, lookOf } from "../domain/states";
import { useSay, word } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { StateIcon } from "../parts/StateIcon";
import { nodeHeight, nodeWidth, type Place } from "./layout";
import type { GraphTask } from "./types";
import { useLayout } from "./useLayout";

type NodeData = { name: string; type: string; state: string; note: string; label: string; dim: boolean };
type TaskNode = Node<NodeData, "task">;

const TaskNodeView = memo(function TaskNodeView({ data, selected }: NodeProps<TaskNode>) {
  const { t } = useSay();
  return (
    <div
      className={`task-node hue-${lookOf(data.state).hue} fill-${lookOf(data.state).fill}${data.state ? "" : " outside"}${selected ? " chosen" : ""}${data.dim ? " dim" : ""}`}
    >
      <Handle type="target" position={Position.Left} isConnectable={false} />
      {data.state !== "" && <StateIcon state={data.state} size={18} />}
      <span className="task-node-text">
        <strong title={data.name}>{data.name}</strong>
        <span>
          {data.type}
          {data.state && <> · {word(t, "state", data.state)}</>}
          {data.note && <> · {data.note}</>}
        </span>
      </span>
      <Handle type="source" position={Position.Right} isConnectable={false} />
    </div>
  );
});

const nodeTypes = { task: TaskNodeView };

/** NodeState is what a graph of a running instance adds to a task. */
export interface NodeState {
  state: string;
  note: string;
}

interface Props {
  name: string;
  tasks: GraphTask[];
  places?: Record<string, Place>;
  states?: Map<string, NodeState>;
  chosen?: string;
  onChoose?: (task: string) => void;
  problems?: boolean;
  onProblems?: (on: boolean) => void;
}

export function GraphView(props: Props) {
  const { t } = useSay();
  const layout = useLayout(props.tasks, props.places);
  if (layout.isError) return <ErrorView error={layout.error} retry={() => void layout.refetch()} />;
  if (!layout.data) return <p className="faint pad">{t("run.layout")}</p>;
  return (
    <ReactFlowProvider>
      <Canvas {...props} at={layout.data} />
    </ReactFlowProvider>
  );
}

/** readable is the smallest zoom at which a page opens: names can still be read. */
const readable = 0.6;

function Canvas({ name, tasks, at, states, chosen, onChoose, problems, onProblems }: Props & { at: Record<string, Place> }) {
  const { t } = useSay();
  const flow = useReactFlow();
  const nodes = useMemo<TaskNode[]>(
    () =>
      tasks.map((task) => {
        const s = states?.get(task.name);
        const state = s?.state ?? "";
        const said = t("run.nodeLabel", { task: task.name, type: task.type, state: state ? word(t, "state", state) : t("state.outside") });
        const label = task.needs.length > 0 ? `${said}, ${t("run.nodeAfter", { needs: task.needs.join(", ") })}` : said;
        return {
          id: task.name,
          type: "task",
          position: at[task.name] ?? { x: 0, y: 0 },
          width: nodeWidth,
          height: nodeHeight,
          selected: task.name === chosen,
          ariaLabel: states ? label : `${task.name}, ${task.type}`,
          data: { name: task.name, type: task.type, state, note: s?.note ?? "", label, dim: problems === true && !isTrouble(state) },
        };
      }),
    [tasks, at, states, chosen, problems, t],
  );
  const edges = useMemo<Edge[]>(
    () =>
      tasks.flatMap((task) =>
        task.needs.map((need) => ({ id: `${need}\n${task.name}`, source: need, target: task.name, focusable: false })),
      ),
    [tasks],
  );
  useEffect(() => {
    const fit = () => void flow.fitView({ padding: 0.1, maxZoom: 1 });
    window.addEventListener("porpoise:fit", fit);
    return () => window.removeEventListener("porpoise:fit", fit);
  }, [flow]);
  const focus = chosen && tasks.length > 40 ? [{ id: chosen }] : undefined;
  return (
    <section className="canvas" aria-label={t("run.graphLabel", { workflow: name })}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        onNodeClick={(_, node) => onChoose?.(node.id)}
        onSelectionChange={undefined}
        onKeyDown={(event) => {
          const id = event.target instanceof Element ? event.target.closest(".react-flow__node")?.getAttribute("data-id") : null;
          if (id && (event.key === "Enter" || event.key === " ")) onChoose?.(id);
        }}
        nodesDraggable={false}
        nodesConnectable={false}
        edgesFocusable={false}
        elementsSelectable={onChoose !== undefined}
        onlyRenderVisibleElements={tasks.length > 60}
        fitView
        fitViewOptions={{ padding: 0.1, maxZoom: 1, minZoom: tasks.length > 40 ? readable : 0.2, nodes: focus }}
        minZoom={0.05}
        maxZoom={2}
        panOnScroll
        zoomOnDoubleClick={false}
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        proOptions={{ hideAttribution: true }}
      >
        {tasks.length > 30 && (
          <MiniMap pannable zoomable ariaLabel={null} nodeClassName={(n) => `hue-${lookOf(String(n.data.state)).hue}`} />
        )}
      </ReactFlow>
      <div className="canvas-tools">
        <Button variant="default" leftSection={<Maximize size={13} />} onClick={() => void flow.fitView({ padding: 0.1, maxZoom: 1 })}>
          {t("run.fit")}
        </Button>
        <Button.Group>
          <Button variant="default" aria-label="+" onClick={() => void flow.zoomIn()}>
            <Plus size={13} />
          </Button>
          <Button variant="default" aria-label="-" onClick={() => void flow.zoomOut()}>
            <Minus size={13} />
          </Button>
        </Button.Group>
        {onProblems && (
          <Switch label={t("run.onlyProblems")} checked={problems === true} onChange={(e) => onProblems(e.currentTarget.checked)} />
        )}
      </div>
    </section>
  );
}
