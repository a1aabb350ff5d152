import { Plus } from "lucide-react";
import { defaults, type Point, type Points } from "../../domain/graph/layout";
import { useSay } from "../../i18n";
import { endsOf } from "./nodes";

interface Props {
  edge: string | undefined;
  points: Points;
  onPlus: (edge: string, screen: Point) => void;
  onEnter: () => void;
  onLeave: () => void;
}

const { size } = defaults;

/** EdgePlus is the button in the middle of the edge that the pointer is at. Keys have the menu of the task's edges. */
export function EdgePlus({ edge, points, onPlus, onEnter, onLeave }: Props) {
  const { t } = useSay();
  if (edge === undefined) return null;
  const { from, to } = endsOf(edge);
  const [a, b] = [points[from], points[to]];
  if (!a || !b) return null;
  const x = (a.x + b.x + size.width) / 2;
  const y = (a.y + b.y + size.height) / 2;
  const words = t("canvas.insertBetween", { from, to });
  return (
    <button
      type="button"
      tabIndex={-1}
      className="edge-plus nopan nodrag"
      data-id={edge}
      style={{ transform: `translate(${x - 12}px, ${y - 12}px)` }}
      aria-label={words}
      title={words}
      onPointerEnter={onEnter}
      onPointerLeave={onLeave}
      onClick={(event) => onPlus(edge, { x: event.clientX, y: event.clientY })}
    >
      <Plus size={14} />
    </button>
  );
}
