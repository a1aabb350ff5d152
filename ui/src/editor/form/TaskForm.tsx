import { useMemo } from "react";
import type { TaskTypes } from "../../api/client";
import type { Task } from "../../domain/document/read";
import { useSay } from "../../i18n";
import { useDoc, useDocument } from "../context";
import { sentenceOf } from "../text/sentence";
import { BrokenNote } from "./BrokenNote";
import { InText } from "./controls/YamlOnly";
import { Fields } from "./Fields";
import { PreviewTab } from "./preview/PreviewTab";
import { commonFields, fieldsOf, unknownKeys } from "./schema";
import { ofTab, tabOf, taskTabs } from "./sections";
import { Tabs } from "./Tabs";
import { taskTarget } from "./target";
import type { Wish } from "./useFieldWish";
import { countsOf, usePart } from "./usePart";
import { shown } from "./values";

interface Props {
  task: Task;
  types: TaskTypes;
  wish: Wish | undefined;
}

/** TaskForm edits one task: every field of its type's schema, by part. */
export function TaskForm({ task, types, wish }: Props) {
  const { t } = useSay();
  const doc = useDocument();
  const problems = useDoc((s) => s.problems);
  const target = useMemo(() => taskTarget(doc, task, problems), [doc, task, problems]);
  const fields = useFields(task, types);
  const { tab, setTab, open, setOpen } = usePart("task", fields, wish);
  const own = target.problems([]);
  const loose = own.filter((p) => p.path.length === 0);
  const unknown = unknownKeys(fields, task.fields).filter((key) => tabOf(key, "task") === tab);
  return (
    <>
      <h2 className="form-title">
        <span>{task.name || t("form.unnamed", { n: task.index + 1 })}</span>
        <span className="faint">{task.type}</span>
      </h2>
      <Tabs tabs={taskTabs} at={tab} counts={countsOf(own, "task")} onChoose={setTab} />
      <BrokenNote />
      <div className="form-part" role="tabpanel" id="form-part" aria-labelledby={`form-tab-${tab}`} key={tab}>
        {tab === "what" && loose.length > 0 && (
          <p className={loose.every((p) => p.severity === "warning") ? "fr-error warn" : "fr-error"}>
            {loose.map((p) => sentenceOf(t, p)).join(" ")}
          </p>
        )}
        {tab === "preview" ? (
          <PreviewTab task={task.name} />
        ) : (
          <Fields fields={ofTab(fields, tab, "task")} target={target} task={task} types={types.items} open={open} onOpen={setOpen} />
        )}
        {unknown.length > 0 && (
          <section className="form-unknown">
            <h3>{t("form.unknown")}</h3>
            {unknown.map((key) => (
              <div className="fr wide" key={key} data-field={key}>
                <span className="fr-label mono">{key}</span>
                <div className="fr-control">
                  <InText path={target.whole([key])} text={shown(task.fields[key])} />
                  {target.problems([key]).map((p) => (
                    <p className="fr-error" key={p.id}>
                      {sentenceOf(t, p)}
                    </p>
                  ))}
                </div>
              </div>
            ))}
          </section>
        )}
      </div>
    </>
  );
}

// A type that is not known yet, or not any more, has at least what all types have.
function useFields(task: Task, types: TaskTypes) {
  return useMemo(() => {
    const known = types.items.find((x) => x.type === task.type);
    return known ? fieldsOf(known.schema) : commonFields(types.items.map((x) => fieldsOf(x.schema)));
  }, [types, task.type]);
}
