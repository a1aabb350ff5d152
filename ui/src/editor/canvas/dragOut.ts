import { type PointerEvent, useRef, useState } from "react";

interface At {
  x: number;
  y: number;
}

interface Options {
  onOver: (at: At | undefined) => void;
  onDrop: (at: At) => void;
  onClick: () => void;
}

// A hand that clicks moves by a pixel or two.
const dragFrom = 4;

/** useDragOut tells a click from a drag to somewhere else, for mouse, pen and finger; Escape gives the drag up. */
export function useDragOut({ onOver, onDrop, onClick }: Options) {
  const start = useRef<At>(undefined);
  const [at, setAt] = useState<At>();
  const dragged = useRef(false);
  const end = () => {
    start.current = undefined;
    setAt(undefined);
    onOver(undefined);
  };
  return {
    at,
    handlers: {
      onPointerDown: (event: PointerEvent<HTMLButtonElement>) => {
        if (event.button !== 0) return;
        dragged.current = false;
        start.current = { x: event.clientX, y: event.clientY };
        event.currentTarget.setPointerCapture(event.pointerId);
      },
      onPointerMove: (event: PointerEvent<HTMLButtonElement>) => {
        const from = start.current;
        if (!from) return;
        const here = { x: event.clientX, y: event.clientY };
        if (!dragged.current && Math.hypot(here.x - from.x, here.y - from.y) < dragFrom) return;
        dragged.current = true;
        setAt(here);
        onOver(here);
      },
      onPointerUp: (event: PointerEvent<HTMLButtonElement>) => {
        const drops = start.current !== undefined && dragged.current;
        end();
        if (drops) onDrop({ x: event.clientX, y: event.clientY });
      },
      onPointerCancel: end,
      onKeyDown: (event: React.KeyboardEvent) => {
        if (event.key === "Escape" && start.current) end();
      },
      onClick: () => {
        // The browser calls the end of a drag a click too.
        if (!dragged.current) onClick();
        dragged.current = false;
      },
    },
  };
}
