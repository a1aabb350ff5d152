import { Textarea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Calendar, calendarsQuery, deleteCalendar, putCalendar } from "../api/settings";
import { lines } from "../domain/lines";
import { useSay } from "../i18n";
import { Moment } from "../parts/Times";
import { ThingForm } from "./ThingForm";
import { Things } from "./Things";
import type { ProjectTabProps } from "./tab";

/** CalendarsTab is the sets of days that schedules of a project ask for. */
export function CalendarsTab({ project, why, search, set }: ProjectTabProps) {
  const { t } = useSay();
  const query = useQuery(calendarsQuery(project));
  return (
    <Things<Calendar>
      query={query}
      about={t("settings.calendars.about")}
      empty={t("settings.calendars.empty")}
      newLabel={t("settings.calendars.new")}
      deleteAsk={t("settings.calendars.deleteAsk")}
      why={why}
      search={search}
      set={set}
      columns={[
        {
          head: t("settings.calendars.days"),
          className: "wide",
          cell: (c) => (
            <span title={c.days.join("\n")}>
              {t("settings.calendars.count", { count: c.days.length })}{" "}
              <span className="faint">
                {c.days.slice(0, 3).join(", ")}
                {c.days.length > 3 && " …"}
              </span>
            </span>
          ),
        },
        { head: t("settings.changed"), cell: (c) => <Moment at={c.changed_at} /> },
        { head: t("settings.by"), cell: (c) => c.changed_by },
      ]}
      remove={(name) => deleteCalendar(project, name)}
      form={(was, done, close) => (
        <ThingForm
          was={was}
          nameField="calendar"
          described={false}
          save={(name, form) => putCalendar(project, name, lines(String(form.get("days"))))}
          onDone={done}
          onClose={close}
        >
          {(wrong) => (
            <Textarea
              name="days"
              label={t("settings.calendars.days")}
              description={t("settings.calendars.daysHint")}
              defaultValue={was?.days.join("\n")}
              classNames={{ input: "mono" }}
              autosize
              minRows={5}
              maxRows={16}
              required
              spellCheck={false}
              error={wrong("days")}
            />
          )}
        </ThingForm>
      )}
    />
  );
}
