import { Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { deleteEnvironment, type Environment, environmentsQuery, putEnvironment } from "../api/settings";
import { textOf, variables } from "../domain/lines";
import { useSay } from "../i18n";
import { Moment } from "../parts/Times";
import { local, ThingForm } from "./ThingForm";
import { Things } from "./Things";
import type { TabProps } from "./tab";

/** EnvironmentsTab is the sets of variables that tasks of a project, or of all, take by name. */
export function EnvironmentsTab({ project, why, search, set }: TabProps) {
  const { t } = useSay();
  const query = useQuery(environmentsQuery(project));
  const save = async (name: string, form: FormData) => {
    const read = variables(String(form.get("variables")));
    if ("wrong" in read) throw local("variables", t("settings.environments.line", { line: read.wrong }));
    return putEnvironment(project, name, read.values, String(form.get("description")));
  };
  return (
    <Things<Environment>
      query={query}
      about={t(project === undefined ? "admin.environments.about" : "settings.environments.about")}
      empty={t("settings.environments.empty")}
      newLabel={t("settings.environments.new")}
      deleteAsk={t("settings.environments.deleteAsk")}
      why={why}
      search={search}
      set={set}
      columns={[
        {
          head: t("settings.environments.variables"),
          cell: (e) => (
            <span title={textOf(e.variables)}>{t("settings.environments.count", { count: Object.keys(e.variables).length })}</span>
          ),
        },
        { head: t("settings.description"), className: "wide", cell: (e) => <span className="faint">{e.description}</span> },
        { head: t("settings.changed"), cell: (e) => <Moment at={e.updated_at} /> },
        { head: t("settings.by"), cell: (e) => e.updated_by },
      ]}
      remove={(name) => deleteEnvironment(project, name)}
      form={(was, done, close) => (
        <ThingForm was={was} nameField="environment" save={save} onDone={done} onClose={close}>
          {(wrong) => (
            <Textarea
              name="variables"
              label={t("settings.environments.variables")}
              description={t("settings.environments.variablesHint")}
              defaultValue={was && textOf(was.variables)}
              classNames={{ input: "mono" }}
              autosize
              minRows={4}
              maxRows={14}
              spellCheck={false}
              error={wrong("variables")}
            />
          )}
        </ThingForm>
      )}
    />
  );
}
