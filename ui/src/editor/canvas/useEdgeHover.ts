import type { Edge } from "@xyflow/react";
import { useCallback, useEffect, useRef, useState } from "react";

// The way from the line to its button leads over the ground: the button waits for the hand.
const patience = 400;

/** useEdgeHover tells which edge the pointer is at, and keeps it while the pointer is at its button. */
export function useEdgeHover() {
  const [edge, setEdge] = useState<string>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const stay = useCallback(() => clearTimeout(timer.current), []);
  const leave = useCallback(() => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setEdge(undefined), patience);
  }, []);
  const enterEdge = useCallback((_: unknown, { id }: Edge) => {
    clearTimeout(timer.current);
    setEdge(id);
  }, []);
  return { edge, enterEdge, leaveEdge: leave, enterPlus: stay, leavePlus: leave };
}
