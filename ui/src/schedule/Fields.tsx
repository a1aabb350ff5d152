import { Radio, Select, TagsInput, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { workflowOverviewQuery } from "../api/account";
import { calendarsQuery } from "../api/schedules";
import { excludeds, misfires, overlaps, priorities } from "../domain/schedule/draft";
import { byClock } from "../domain/schedule/when";
import { useSay } from "../i18n";
import type { FieldProps } from "./fieldProps";
import { ParamFields } from "./ParamFields";

/** NameFields are asked for a new schedule alone: of which workflow it is, and its name. */
export function NameFields({ draft, set, wrong, project, fixed }: FieldProps & { fixed: string | undefined }) {
  const { t } = useSay();
  const workflows = useQuery({ ...workflowOverviewQuery(project), enabled: fixed === undefined });
  const published = (workflows.data ?? []).filter((w) => w.published > 0).map((w) => w.name);
  return (
    <fieldset className="schedule-part">
      {fixed === undefined &&
        (workflows.isSuccess && published.length === 0 ? (
          <p className="warning">{t("schedules.noWorkflow")}</p>
        ) : (
          <Select
            label={t("schedules.workflow")}
            data={published}
            value={draft.workflow || null}
            onChange={(v) => set({ workflow: v ?? "", params: {} })}
            searchable
            openOnFocus={false}
            required
            data-autofocus
          />
        ))}
      <TextInput
        label={t("schedules.name")}
        description={t("schedules.nameHint")}
        value={draft.name}
        onChange={(e) => set({ name: e.currentTarget.value })}
        error={wrong("schedule")}
        required
        maxLength={128}
        autoComplete="off"
        data-autofocus={fixed !== undefined || undefined}
      />
    </fieldset>
  );
}

/** DayFields say on which days a schedule fires. */
export function DayFields({ draft, set, wrong, project }: FieldProps) {
  const { t } = useSay();
  const calendars = useQuery(calendarsQuery(project));
  const names = ["business_days", ...(calendars.data ?? []).map((c) => c.name)];
  const any = draft.skip.length + draft.only.length > 0;
  return (
    <fieldset className="schedule-part">
      <legend>{t("schedules.sectionDays")}</legend>
      <TagsInput
        size="xs"
        label={t("schedules.skip")}
        data={names}
        value={draft.skip}
        onChange={(skip) => set({ skip })}
        error={wrong("calendar.skip")}
        acceptValueOnBlur
      />
      <TagsInput
        size="xs"
        label={t("schedules.only")}
        data={names}
        value={draft.only}
        onChange={(only) => set({ only })}
        error={wrong("calendar.only")}
        acceptValueOnBlur
      />
      {any && (
        <Select
          label={t("schedules.excluded")}
          data={excludeds.map((x) => ({ value: x, label: t(`schedules.excluded.${x}`) }))}
          value={draft.excluded}
          onChange={(v) => set({ excluded: excludeds.find((x) => x === v) ?? "skip" })}
          error={wrong("calendar.excluded")}
        />
      )}
    </fieldset>
  );
}

/** LateFields are the policies for late fires and for those that meet an instance which still runs. */
export function LateFields({ draft, set, wrong }: FieldProps) {
  const { t } = useSay();
  const span = t("schedules.spanHint");
  return (
    <fieldset className="schedule-part">
      <legend>{t("schedules.sectionLate")}</legend>
      {byClock(draft.when) && (
        <>
          <Radio.Group
            size="xs"
            label={t("schedules.misfire")}
            value={draft.misfire}
            onChange={(v) => set({ misfire: misfires.find((x) => x === v) ?? "latest" })}
          >
            {misfires.map((x) => (
              <Radio key={x} size="xs" value={x} label={t(`schedules.misfire.${x}`)} description={t(`schedules.misfire.${x}.about`)} />
            ))}
          </Radio.Group>
          <div className="field-pair thirds">
            <TextInput
              label={t("schedules.grace")}
              placeholder="30s"
              value={draft.grace}
              onChange={(e) => set({ grace: e.currentTarget.value })}
              error={wrong("misfire.grace")}
            />
            {draft.misfire !== "none" && (
              <TextInput
                label={t("schedules.maxAge")}
                placeholder={span}
                value={draft.maxAge}
                onChange={(e) => set({ maxAge: e.currentTarget.value })}
                error={wrong("misfire.max_age")}
              />
            )}
            {draft.misfire === "all" && (
              <TextInput
                label={t("schedules.max")}
                placeholder="100"
                inputMode="numeric"
                value={draft.max}
                onChange={(e) => set({ max: e.currentTarget.value })}
                error={wrong("misfire.max")}
              />
            )}
          </div>
        </>
      )}
      <Radio.Group
        size="xs"
        label={t("schedules.overlap")}
        value={draft.overlap}
        onChange={(v) => set({ overlap: overlaps.find((x) => x === v) ?? "allow" })}
      >
        {overlaps.map((x) => (
          <Radio key={x} size="xs" value={x} label={t(`schedules.overlap.${x}`)} description={t(`schedules.overlap.${x}.about`)} />
        ))}
      </Radio.Group>
      {byClock(draft.when) && (
        <TextInput
          label={t("schedules.jitter")}
          description={t("schedules.jitterHint")}
          value={draft.jitter}
          onChange={(e) => set({ jitter: e.currentTarget.value })}
          error={wrong("jitter")}
        />
      )}
    </fieldset>
  );
}

/** StartFields are what the instances are started with. */
export function StartFields({ draft, set, wrong, project }: FieldProps) {
  const { t } = useSay();
  return (
    <fieldset className="schedule-part">
      <legend>{t("schedules.sectionStart")}</legend>
      {draft.workflow !== "" && (
        <ParamFields
          project={project}
          workflow={draft.workflow}
          values={draft.params}
          wrong={wrong}
          onChange={(params) => set({ params })}
        />
      )}
      <div className="field-pair">
        <TextInput
          label={t("schedules.workerGroup")}
          placeholder={t("schedules.unset")}
          value={draft.workerGroup}
          onChange={(e) => set({ workerGroup: e.currentTarget.value })}
          error={wrong("worker_group")}
          autoComplete="off"
        />
        <Select
          label={t("schedules.priority")}
          data={[{ value: "", label: t("schedules.unset") }, ...priorities.map((p) => ({ value: p, label: p }))]}
          value={draft.priority}
          onChange={(v) => set({ priority: priorities.find((p) => p === v) ?? "" })}
        />
      </div>
    </fieldset>
  );
}
