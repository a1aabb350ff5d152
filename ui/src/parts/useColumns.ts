import { type RefObject, useLayoutEffect, useMemo, useState } from "react";
import { columns, fitting, templateOf } from "../domain/instanceColumns";
import { useSettings } from "../settings";

/** useColumns are the columns that the table in an element shows, and its grid. */
export function useColumns(table: RefObject<HTMLElement | null>, showProject: boolean, picking: boolean) {
  const { hidden } = useSettings();
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const of = table.current;
    if (!of) return;
    const watch = new ResizeObserver(() => setWidth(of.clientWidth));
    setWidth(of.clientWidth);
    watch.observe(of);
    return () => watch.disconnect();
  }, [table]);
  return useMemo(() => {
    const wanted = columns.filter((c) => !hidden.includes(c) && (c !== "project" || showProject));
    const shown = fitting(wanted, picking, width);
    return { shown, style: { "--columns": templateOf(shown) } as React.CSSProperties };
  }, [hidden, showProject, picking, width]);
}
