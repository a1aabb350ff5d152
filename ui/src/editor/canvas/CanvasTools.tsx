import { Button } from "@mantine/core";
import { useReactFlow } from "@xyflow/react";
import { ArrowDown, ArrowRight, Maximize, Minus, Network, Plus, Search } from "lucide-react";
import type { Direction } from "../../domain/graph/layout";
import { useSay } from "../../i18n";

interface Props {
  direction: Direction;
  locked: boolean;
  onFit: () => void;
  onFind: () => void;
  onArrange: (direction: Direction) => void;
}

/** CanvasTools moves the view, and arranges the tasks. */
export function CanvasTools({ direction, locked, onFit, onFind, onArrange }: Props) {
  const { t } = useSay();
  const flow = useReactFlow();
  const right = direction === "LR";
  const turn = t(right ? "graph.turnDown" : "graph.turnRight");
  return (
    <div className="canvas-tools editor-tools">
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
        <Button variant="default" aria-label={t("graph.find")} title={`${t("graph.find")} (Ctrl F)`} onClick={onFind}>
          <Search size={13} />
        </Button>
      </Button.Group>
      {!locked && (
        <Button.Group>
          <Button variant="default" leftSection={<Network size={13} />} onClick={() => onArrange(direction)}>
            {t("canvas.arrange")}
          </Button>
          <Button variant="default" aria-label={turn} title={turn} onClick={() => onArrange(right ? "TB" : "LR")}>
            {right ? <ArrowRight size={13} /> : <ArrowDown size={13} />}
          </Button>
        </Button.Group>
      )}
    </div>
  );
}
