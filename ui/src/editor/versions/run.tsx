import { ActionIcon } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import { useMemo } from "react";
import { instanceQuery, tasksQuery } from "../../api/queries";
import { isFinalTask } from "../../domain/states";
import { useSay, word } from "../../i18n";
import { useLiveInstance } from "../../live/live";
import { StateIcon } from "../../parts/StateIcon";
import { useStay } from "../../parts/useStay";
import type { Origin } from "../origin";

const route = getRouteApi("/p/$project/w/$workflow/edit");

/** useRunStates gives the states of the instance that the address names, by task; none where it names none. */
export function useRunStates(): ReadonlyMap<string, string> | undefined {
  const { run } = route.useSearch();
  const tasks = useQuery({ ...tasksQuery(run ?? ""), enabled: run !== undefined });
  return useMemo(() => (run && tasks.data ? new Map(tasks.data.map((t) => [t.name, t.state])) : undefined), [run, tasks.data]);
}

/** RunStrip says how the instance goes that was started from here. */
export function RunStrip({ origin }: { origin: Origin }) {
  const { run } = route.useSearch();
  return run === undefined ? null : <Strip id={run} origin={origin} />;
}

function Strip({ id, origin }: { id: string; origin: Origin }) {
  const { t } = useSay();
  const go = useStay(route.useNavigate());
  const instance = useQuery(instanceQuery(id));
  const states = useRunStates();
  useLiveInstance(id);
  const state = instance.data?.state;
  const all = [...(states?.values() ?? [])];
  return (
    <div className="editor-notice" role="status">
      {state && <StateIcon state={state} size={16} />}
      <span>
        {instance.isError ? instance.error.message : t("editor.runStrip", { id, done: all.filter(isFinalTask).length, all: all.length })}
        {state && <> · {word(t, "state", state)}</>}
      </span>
      <Link to="/p/$project/r/$id" params={{ project: origin.project, id }}>
        {t("editor.openRun")}
      </Link>
      <ActionIcon aria-label={t("editor.closeRun")} onClick={() => void go({ search: (s) => ({ ...s, run: undefined }) })}>
        <X size={14} />
      </ActionIcon>
    </div>
  );
}
