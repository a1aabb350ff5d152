import type { Direction } from "../../domain/graph/layout";

// Longer than any screen at the least zoom at which nodes can be dragged.
const reach = 20_000;

/** SnapLines shows with what a dragged node stands in line. */
export function SnapLines({ lines }: { lines: { x?: number; y?: number } | undefined; direction: Direction }) {
  if (!lines) return null;
  return (
    <>
      {lines.x !== undefined && <div className="snap-line" style={{ left: lines.x, top: -reach, width: 1, height: 2 * reach }} />}
      {lines.y !== undefined && <div className="snap-line" style={{ top: lines.y, left: -reach, height: 1, width: 2 * reach }} />}
    </>
  );
}
