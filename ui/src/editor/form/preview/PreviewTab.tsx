import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { ApiError, type ParameterPreview } from "../../../api/client";
import { parametersQuery } from "../../../api/queries";
import type { Task } from "../../../domain/document/read";
import { reachable } from "../../../domain/graph/model";
import { useSay } from "../../../i18n";
import { ErrorView, SkeletonRows } from "../../../parts/ErrorView";
import { useSettings } from "../../../settings";
import { useDoc, useDocument } from "../../context";
import { listOf } from "../values";
import { Asking } from "./Asking";
import { useAsk } from "./ask";
import { ParamTable } from "./ParamTable";
import { PreviewedTask } from "./PreviewedTask";
import { missingIn } from "./rendered";
import { Unresolved } from "./Unresolved";
import { fromWall } from "./wall";

const route = getRouteApi("/p/$project/w/$workflow/edit");

const none: ApiError["fields"] = [];

/** outputsAbove gives the names that the tasks above one give on. */
function outputsAbove(tasks: readonly Task[], task: string | undefined): ReadonlySet<string> {
  if (task === undefined) return new Set();
  const above = reachable(tasks, task, "above");
  return new Set(tasks.filter((x) => x.name !== task && above.has(x.name)).flatMap((x) => listOf(x.fields.outputs)));
}

// The server tells of names in fields; a script's variables may come from anywhere, but outputs only from their tasks.
function open({ task, unresolved }: ParameterPreview, outputs: ReadonlySet<string>): ParameterPreview["unresolved"] {
  const script = task?.fields.script;
  if (!task || typeof script !== "string") return [];
  const told = new Set(unresolved.map((u) => u.name));
  return missingIn(script, task.env, outputs)
    .filter((name) => !told.has(name))
    .map((name) => ({ name, field: "script" }));
}

/** pause is the quiet in typing, in milliseconds, after which the server is asked again. */
const pause = 400;

/** PreviewTab works out the parameters of the text as it is, for a time or with the outputs of a past instance. */
export function PreviewTab({ task }: { task?: string }) {
  const { t } = useSay();
  const doc = useDocument();
  const { project, workflow } = route.useParams();
  const { zone } = useSettings();
  const [ask, change] = useAsk(doc);
  const text = useDoc((s) => s.history.text);
  const json = useDoc((s) => s.reading.good && s.reading.style.json);
  const model = useDoc((s) => s.reading.model);
  const above = useMemo(() => outputsAbove(model.tasks, task), [model, task]);
  const good = useDoc((s) => s.reading.good);
  const body = useMemo(() => {
    const typed = ask.of === "time" ? fromWall(ask.at, zone) : undefined;
    const at = ask.of === "time" ? typed && new Date(typed).toISOString() : (ask.instance?.schedule_time ?? ask.instance?.created_at);
    return {
      text,
      format: json ? ("json" as const) : ("yaml" as const),
      task,
      params: ask.params,
      schedule_time: at || undefined,
      instance_id: ask.of === "instance" ? ask.instance?.id : undefined,
    };
  }, [text, json, task, ask, zone]);
  const [settled] = useDebouncedValue(body, pause);
  const preview = useQuery({ ...parametersQuery(project, workflow, settled), enabled: good, placeholderData: keepPreviousData });
  const wrong = preview.error instanceof ApiError ? preview.error.fields : none;
  // What is wrong with a value that is given here stands at its field.
  const atFields = wrong.length > 0 && wrong.every((f) => f.field.startsWith("params."));
  const missing = preview.error instanceof ApiError && preview.error.status === 404;
  return (
    <div className="preview" aria-busy={preview.isFetching || settled !== body}>
      <Asking ask={ask} change={change} project={project} workflow={workflow} wrong={wrong} />
      {missing ? (
        <p className="warning">{t("form.preview.unsaved")}</p>
      ) : atFields ? null : preview.isError ? (
        <ErrorView error={preview.error} retry={() => void preview.refetch()} />
      ) : preview.data ? (
        <>
          <Unresolved names={[...preview.data.unresolved, ...open(preview.data, above)]} task={task} />
          <ParamTable params={preview.data.params} />
          {preview.data.task && <PreviewedTask task={preview.data.task} />}
        </>
      ) : good ? (
        <SkeletonRows />
      ) : null}
    </div>
  );
}
