import { useEffect, useMemo, useRef, useState } from "react";
import type { Task } from "../api/client";
import { newlyFailed, Paced } from "../domain/paced";
import { useSay } from "../i18n";

/** apart is how long a screen reader is left in peace after a failure, in ms. */
const apart = 5000;

/** Failing tells who does not see the page which task has just failed. */
export function Failing({ tasks }: { tasks: Task[] }) {
  const { t } = useSay();
  const [names, setNames] = useState<string[]>([]);
  const paced = useMemo(() => new Paced(setNames, apart), []);
  const was = useRef<ReadonlyMap<string, string>>(undefined);
  useEffect(() => {
    if (was.current) paced.add(newlyFailed(was.current, tasks));
    was.current = new Map(tasks.map((x) => [x.name, x.state]));
  }, [tasks, paced]);
  useEffect(() => () => paced.stop(), [paced]);
  const [first] = names;
  return (
    <p className="unseen" aria-live="polite" data-said>
      {first !== undefined && t("run.saidFailed", { count: names.length, task: first })}
    </p>
  );
}
