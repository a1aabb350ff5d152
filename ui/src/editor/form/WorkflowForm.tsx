import { useMemo } from "react";
import type { TaskTypes } from "../../api/client";
import { useSay } from "../../i18n";
import { useDoc, useDocument } from "../context";
import { sentenceOf } from "../text/sentence";
import { BrokenNote } from "./BrokenNote";
import { InText } from "./controls/YamlOnly";
import { Fields } from "./Fields";
import { PreviewTab } from "./preview/PreviewTab";
import { fieldsOf, unknownKeys } from "./schema";
import { ofTab, workflowTabs } from "./sections";
import { Tabs } from "./Tabs";
import { workflowTarget } from "./target";
import type { Wish } from "./useFieldWish";
import { countsOf, usePart } from "./usePart";
import { shown } from "./values";

/** WorkflowForm edits the workflow's own keys. Its name is that of its address, and is not changed here. */
export function WorkflowForm({ types, wish }: { types: TaskTypes; wish: Wish | undefined }) {
  const { t } = useSay();
  const doc = useDocument();
  const workflow = useDoc((s) => s.reading.model);
  const problems = useDoc((s) => s.problems);
  const target = useMemo(() => workflowTarget(doc, workflow, problems), [doc, workflow, problems]);
  const all = useMemo(() => fieldsOf(types.workflow.schema), [types]);
  const fields = all.filter((f) => f.control !== "name");
  const { tab, setTab, open, setOpen } = usePart("workflow", fields, wish);
  const own = target.problems([]);
  const loose = own.filter((p) => p.path.length === 0 || p.path[0] === "name" || p.path[0] === "tasks");
  const unknown = unknownKeys(all, workflow.fields);
  return (
    <>
      <h2 className="form-title">
        <span>{workflow.name || t("form.workflow")}</span>
        <span className="faint">{t("form.workflow")}</span>
      </h2>
      <Tabs tabs={workflowTabs} at={tab} counts={countsOf(own, "workflow")} onChoose={setTab} />
      <BrokenNote />
      <div className="form-part" role="tabpanel" id="form-part" aria-labelledby={`form-tab-${tab}`} key={tab}>
        {tab === "what" && loose.length > 0 && <p className="fr-error">{loose.map((p) => sentenceOf(t, p)).join(" ")}</p>}
        {tab === "preview" ? (
          <PreviewTab />
        ) : (
          <Fields fields={ofTab(fields, tab, "workflow")} target={target} open={open} onOpen={setOpen} />
        )}
        {tab === "what" && unknown.map((key) => <InText key={key} path={[key]} text={`${key}: ${shown(workflow.fields[key])}`} />)}
        {tab === "what" && <p className="faint form-hint">{t("form.chooseTask")}</p>}
      </div>
    </>
  );
}
