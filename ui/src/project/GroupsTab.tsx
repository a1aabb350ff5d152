import { NumberInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { deleteTaskGroup, putTaskGroup, type TaskGroup, taskGroupsQuery } from "../api/settings";
import { useSay } from "../i18n";
import { GroupPlaces } from "./GroupPlaces";
import { ThingForm } from "./ThingForm";
import { Things } from "./Things";
import type { ProjectTabProps } from "./tab";

/** GroupsTab is the places that tasks of a project share: how many there are, who has them, who waits. */
export function GroupsTab({ project, why, search, set }: ProjectTabProps) {
  const { t } = useSay();
  const query = useQuery(taskGroupsQuery(project));
  const save = (name: string, form: FormData) => {
    const [tasks, per] = [String(form.get("tasks")), String(form.get("per")).trim()];
    return putTaskGroup(project, name, {
      size: Number(form.get("size")),
      description: String(form.get("description")),
      ...((tasks !== "" || per !== "") && { rate: { tasks: Number(tasks), per } }),
    });
  };
  return (
    <>
      <Things<TaskGroup>
        query={query}
        about={t("settings.groups.about")}
        empty={t("settings.groups.empty")}
        newLabel={t("settings.groups.new")}
        deleteAsk={t("settings.groups.deleteAsk")}
        why={why}
        search={search}
        set={set}
        columns={[
          {
            head: t("settings.groups.size"),
            cell: (g) => (
              <button type="button" className="link" onClick={() => set({ open: g.name })}>
                {t("settings.groups.used", { used: g.used, size: g.size })}
                {g.waiting > 0 && `, ${t("settings.groups.waiting", { count: g.waiting })}`}
              </button>
            ),
          },
          {
            head: t("settings.groups.rate"),
            cell: (g) =>
              g.rate ? (
                t("settings.groups.rateOf", { tasks: g.rate.tasks, per: g.rate.per })
              ) : (
                <span className="faint">{t("settings.groups.noRate")}</span>
              ),
          },
          { head: t("settings.description"), className: "wide", cell: (g) => <span className="faint">{g.description}</span> },
        ]}
        more={(g) => [{ label: t("settings.groups.open"), run: () => set({ open: g.name }) }]}
        remove={(name) => deleteTaskGroup(project, name)}
        form={(was, done, close) => (
          <ThingForm was={was} nameField="group" save={save} onDone={done} onClose={close}>
            {(wrong) => (
              <>
                <NumberInput
                  name="size"
                  size="xs"
                  label={t("settings.groups.size")}
                  description={t("settings.groups.sizeHint")}
                  defaultValue={was?.size ?? 1}
                  min={0}
                  max={1_000_000}
                  allowDecimal={false}
                  required
                  error={wrong("size")}
                />
                <fieldset className="schedule-part">
                  <legend>{t("settings.groups.rate")}</legend>
                  <div className="field-pair">
                    <NumberInput
                      name="tasks"
                      size="xs"
                      label={t("settings.groups.rateTasks")}
                      defaultValue={was?.rate?.tasks ?? ""}
                      min={1}
                      max={10_000}
                      allowDecimal={false}
                      error={wrong("rate.tasks")}
                    />
                    <TextInput
                      name="per"
                      label={t("settings.groups.ratePer")}
                      defaultValue={was?.rate?.per}
                      placeholder="1m"
                      maxLength={64}
                      error={wrong("rate.per")}
                    />
                  </div>
                  <span className="faint">{t("settings.groups.ratePerHint")}</span>
                </fieldset>
              </>
            )}
          </ThingForm>
        )}
      />
      <GroupPlaces
        project={project}
        group={query.data?.find((g) => g.name === search.open)?.name}
        onClose={() => set({ open: undefined }, true)}
      />
    </>
  );
}
