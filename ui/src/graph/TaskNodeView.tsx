import { type NodeProps, Position } from "@xyflow/react";
import { createContext, memo, useContext } from "react";
import { fanOf } from "../domain/fan";
import { useSay } from "../i18n";
import { FanCounts } from "../parts/FanCounts";
import { Took } from "../parts/Times";
import { across, type NodeData, type TaskNode, undoEnd } from "./nodes";
import { TaskNodeBody } from "./TaskNodeBody";

/**
 * ChosenTask is the name of the task that is chosen. It is no property of the nodes: ReactFlow would go
 * through all 2,000 of them at each step of a search, for two that look different.
 */
export const ChosenTask = createContext<string | undefined>(undefined);

/**
 * TaskNodeView is a task's node in the viewer. ReactFlow measures where edges end at each node it mounts,
 * whatever it was given before; two bare elements tell it, a fraction of what its own handles cost.
 */
export const TaskNodeView = memo(
  function TaskNodeView({ data, sourcePosition, targetPosition }: NodeProps<TaskNode>) {
    const chosen = useContext(ChosenTask) === data.name;
    return (
      <>
        <Body data={data} chosen={chosen} />
        <i className="node-end target" data-handlepos={targetPosition} />
        <i className="node-end source" data-handlepos={sourcePosition} />
        {data.undo && (
          <i
            className={`node-end ${data.undo}`}
            data-handleid={undoEnd}
            data-handlepos={
              across[sourcePosition === Position.Bottom || targetPosition === Position.Bottom ? "TB" : "LR"][data.undo === "source" ? 0 : 1]
            }
          />
        )}
      </>
    );
  },
  (a, b) => a.data === b.data,
);

const Body = memo(function Body({ data, chosen }: { data: NodeData; chosen: boolean }) {
  return (
    <TaskNodeBody
      name={data.name}
      type={data.type}
      state={data.state}
      chosen={chosen}
      dim={data.dim}
      note={noteOf(data)}
      terse={data.fan !== undefined && data.attempts < 2}
      gate={data.gate}
      last={data.last}
      dashed={data.mark === "removed"}
      badge={data.mark && <span className={`mark mark-${data.mark}`}>{signs[data.mark]}</span>}
    />
  );
});

const signs = { added: "+", removed: "−", changed: "Δ" } as const;

function noteOf(data: NodeData): React.ReactNode {
  if (data.from === undefined && data.attempts < 2 && data.items === 0) return undefined;
  return <Note data={data} />;
}

function Note({ data }: { data: NodeData }) {
  const { t } = useSay();
  const fan = fanOf(data.items, data.fan);
  if (fan && data.attempts < 2) return <FanCounts fan={fan} />;
  const took = data.from !== undefined && (data.to !== undefined || data.state === "running");
  return (
    <>
      {fan ? <FanCounts fan={fan} /> : data.items > 0 && `×${data.items}`}
      {data.items > 0 && (took || data.attempts > 1) && " · "}
      {took && <Took from={data.from} to={data.to} live />}
      {took && data.attempts > 1 && " · "}
      {data.attempts > 1 && (
        <span title={t("graph.attempt", { n: data.attempts, of: data.of })}>{`${data.attempts}/${Math.max(data.of, data.attempts)}`}</span>
      )}
    </>
  );
}
