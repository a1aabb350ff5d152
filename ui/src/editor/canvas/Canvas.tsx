import "@xyflow/react/dist/base.css";
import "../../graph/graph.css";
import "./canvas.css";
import { ReactFlowProvider } from "@xyflow/react";
import { useLayoutEffect, useRef, useState } from "react";
import type { Size } from "../../domain/graph/layout";
import { useSay } from "../../i18n";
import { Board } from "./Board";
import { useArranged } from "./useArranged";

/** Canvas shows the tasks and their edges, and is where they are drawn by mouse and by keys. */
export function Canvas() {
  const { t } = useSay();
  const standing = useArranged();
  const section = useRef<HTMLElement>(null);
  const [box, setBox] = useState<Size>();
  // Measured before the first paint, so that the canvas opens where it belongs.
  useLayoutEffect(() => {
    const { width, height } = section.current?.getBoundingClientRect() ?? { width: 0, height: 0 };
    setBox(width > 0 && height > 0 ? { width, height } : { width: 800, height: 480 });
  }, []);
  return (
    <section className="editor-canvas" ref={section} aria-label={t("editor.canvas")}>
      {standing.points && box ? (
        <ReactFlowProvider>
          <Board points={standing.points} direction={standing.direction} turn={standing.turn} box={box} />
        </ReactFlowProvider>
      ) : (
        <p className="faint pad">{t("run.layout")}</p>
      )}
    </section>
  );
}
