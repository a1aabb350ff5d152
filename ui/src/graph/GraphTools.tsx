import { Button, Switch } from "@mantine/core";
import { useReactFlow } from "@xyflow/react";
import { ArrowDown, ArrowRight, Maximize, Minus, Plus, Search } from "lucide-react";
import { memo, useEffect, useState } from "react";
import type { GraphTask } from "../domain/graph/model";
import { useSay } from "../i18n";
import type { NodeState } from "./nodes";
import { useDirection } from "./prefs";
import type { Fly } from "./travel";

interface Props {
  tasks: readonly GraphTask[];
  states: ReadonlyMap<string, NodeState> | undefined;
  onFit: () => void;
  onFind: () => void;
  /** Absent where there is no room for more than the zoom. */
  onFollow: Fly | undefined;
  problems: boolean | undefined;
  onProblems: ((on: boolean) => void) | undefined;
}

/** GraphTools are the canvas's buttons: each has a key or a key's equal. They stand still while the canvas moves. */
export const GraphTools = memo(function GraphTools({ tasks, states, onFit, onFind, onFollow, problems, onProblems }: Props) {
  const { t } = useSay();
  const flow = useReactFlow();
  const [direction, turn] = useDirection();
  const [follow, setFollow] = useState(false);
  const running = follow ? tasks.find((x) => states?.get(x.name)?.state === "running")?.name : undefined;
  useEffect(() => {
    if (running !== undefined) onFollow?.(running, true);
  }, [running, onFollow]);
  const right = direction === "LR";
  return (
    <div className="canvas-tools">
      <Button variant="default" leftSection={<Maximize size={13} />} onClick={onFit}>
        {t("run.fit")}
      </Button>
      <Button.Group>
        <Button variant="default" aria-label={t("graph.zoomIn")} title={t("graph.zoomIn")} onClick={() => void flow.zoomIn()}>
          <Plus size={13} />
        </Button>
        <Button variant="default" aria-label={t("graph.zoomOut")} title={t("graph.zoomOut")} onClick={() => void flow.zoomOut()}>
          <Minus size={13} />
        </Button>
        <Button
          variant="default"
          aria-label={t(right ? "graph.turnDown" : "graph.turnRight")}
          title={t(right ? "graph.turnDown" : "graph.turnRight")}
          onClick={() => turn(right ? "TB" : "LR")}
        >
          {right ? <ArrowRight size={13} /> : <ArrowDown size={13} />}
        </Button>
        <Button variant="default" aria-label={t("graph.find")} title={t("graph.findKey")} onClick={onFind}>
          <Search size={13} />
        </Button>
      </Button.Group>
      {states && onFollow && <Switch label={t("graph.follow")} checked={follow} onChange={(e) => setFollow(e.currentTarget.checked)} />}
      {onProblems && (
        <Switch label={t("run.onlyProblems")} checked={problems === true} onChange={(e) => onProblems(e.currentTarget.checked)} />
      )}
    </div>
  );
});
