import { Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { deleteParam, type ProjectParam, paramsQuery, putParam } from "../api/settings";
import { useSay } from "../i18n";
import { Moment } from "../parts/Times";
import { ThingForm } from "./ThingForm";
import { Things } from "./Things";
import type { ProjectTabProps } from "./tab";

/** ParamsTab is the parameters that every task of a project sees. */
export function ParamsTab({ project, why, search, set }: ProjectTabProps) {
  const { t } = useSay();
  const query = useQuery(paramsQuery(project));
  return (
    <Things<ProjectParam>
      query={query}
      about={t("settings.params.about")}
      empty={t("settings.params.empty")}
      newLabel={t("settings.params.new")}
      deleteAsk={t("settings.params.deleteAsk")}
      why={why}
      search={search}
      set={set}
      columns={[
        { head: t("settings.value"), className: "value mono", cell: (p) => p.value },
        { head: t("settings.description"), cell: (p) => <span className="faint">{p.description}</span> },
        { head: t("settings.changed"), cell: (p) => <Moment at={p.updated_at} /> },
        { head: t("settings.by"), cell: (p) => p.updated_by },
      ]}
      remove={(name) => deleteParam(project, name)}
      form={(was, done, close) => (
        <ThingForm
          was={was}
          nameField="param"
          save={(name, form) => putParam(project, name, String(form.get("value")), String(form.get("description")))}
          onDone={done}
          onClose={close}
        >
          {(wrong) => (
            <Textarea
              name="value"
              label={t("settings.value")}
              defaultValue={was?.value}
              autosize
              minRows={1}
              maxRows={8}
              error={wrong("value")}
            />
          )}
        </ThingForm>
      )}
    />
  );
}
