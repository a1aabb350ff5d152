import { Handle, type NodeProps } from "@xyflow/react";
import { memo } from "react";
import { TaskNodeBody } from "../../graph/TaskNodeBody";
import { useSay } from "../../i18n";
import type { CanvasNode } from "./nodes";

const why = { self: "canvas.illegalSelf", duplicate: "canvas.illegalDuplicate", cycle: "canvas.illegalCycle" } as const;

/** TaskNode is a task in the editor: what the viewer shows, the count of its problems, and the edge that new lines are drawn from. */
export const TaskNode = memo(
  function TaskNode({ data, selected, sourcePosition, targetPosition }: NodeProps<CanvasNode>) {
    const { t } = useSay();
    const { illegal, problems } = data;
    return (
      <TaskNodeBody
        name={data.name}
        type={data.type === "" ? t("canvas.noType") : data.type}
        state={data.state}
        chosen={selected}
        dim={illegal !== undefined}
        note={illegal && <span className="node-why">{t(why[illegal])}</span>}
        gate={data.gate}
        last={data.last}
        undone={data.undone}
        badge={problems > 0 ? <span className="node-problems num">{problems}</span> : undefined}
      >
        {/* Points without a size, where lines begin and end; what the hand takes is around the first of them. */}
        {targetPosition && <Handle type="target" position={targetPosition} className="node-end" isConnectable={false} />}
        {sourcePosition && (
          <Handle type="source" position={sourcePosition} className="node-end" isConnectable={!data.locked}>
            {!data.locked && (
              <span className="node-out" title={t("canvas.dragOut")}>
                <span className="node-out-dot" />
              </span>
            )}
          </Handle>
        )}
      </TaskNodeBody>
    );
  },
  (a, b) => a.data === b.data && a.selected === b.selected && a.sourcePosition === b.sourcePosition,
);
