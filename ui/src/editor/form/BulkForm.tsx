import { useMemo, useState } from "react";
import type { TaskTypes } from "../../api/client";
import type { Task } from "../../domain/document/read";
import { useSay } from "../../i18n";
import { useDocument } from "../context";
import { BrokenNote } from "./BrokenNote";
import { Fields } from "./Fields";
import { commonFields, fieldsOf } from "./schema";
import { bulkKeys } from "./sections";
import { bulkTarget } from "./target";

/** BulkForm gives several tasks the same value: each change is one step of the history. */
export function BulkForm({ tasks, types }: { tasks: readonly Task[]; types: TaskTypes }) {
  const { t } = useSay();
  const doc = useDocument();
  const [open, setOpen] = useState(true);
  const target = useMemo(() => bulkTarget(doc, tasks), [doc, tasks]);
  const fields = useMemo(() => {
    const common = commonFields(types.items.map((x) => fieldsOf(x.schema)));
    return bulkKeys.flatMap((key) => common.filter((f) => f.key === key));
  }, [types]);
  const names = tasks.map((x) => x.name);
  return (
    <>
      <h2 className="form-title">
        <span>{t("form.several", { count: tasks.length })}</span>
      </h2>
      <BrokenNote />
      <div className="form-part">
        <p className="faint form-names">
          {names.length > 8 ? t("form.andMore", { names: names.slice(0, 8).join(", "), count: names.length - 8 }) : names.join(", ")}
        </p>
        <Fields fields={fields} target={target} open={open} onOpen={setOpen} />
      </div>
    </>
  );
}
