import { Button, Select, Switch, Textarea, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError } from "../api/error";
import { createTimer, cronWordsQuery, replaceTimer, switchTimer, type Timer } from "../api/timers";
import { said, wrongFields } from "../domain/problem";
import { freshTimer, methods, type TimerDraft, timerDraft, timerOf } from "../domain/schedule/timer";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Drawer } from "../parts/layers";
import { FireLines } from "../schedule/NextFires";
import { settings } from "../settings";
import { everyZone } from "../shell/Preferences";
import "@mantine/core/styles/Drawer.css";
import "../schedule/schedule.css";

interface Props {
  app: string;
  opened: boolean;
  timer?: Timer; // that is replaced; without it a new one is made
  onClose: () => void;
  onSaved: (id: number) => void;
}

/** TimerForm makes a timer, or another in its place, and shows beside it when it will call. */
export function TimerForm({ opened, timer, onClose, ...rest }: Props) {
  const { t } = useSay();
  return (
    <Drawer
      opened={opened}
      onClose={onClose}
      position="right"
      size="min(880px, 100%)"
      title={timer ? t("timers.editTitle", { name: timer.name }) : t("timers.new")}
      // What was entered must not go by a click beside it.
      closeOnClickOutside={false}
      classNames={{ title: "drawer-title" }}
    >
      {opened && <Body timer={timer} onClose={onClose} {...rest} />}
    </Drawer>
  );
}

function Body({ app, timer, onClose, onSaved }: Omit<Props, "opened">) {
  const { t } = useSay();
  const client = useQueryClient();
  // What was opened is what is replaced: news of it must not write over what is being typed.
  const [was] = useState(timer);
  const [draft, change] = useState(() => (was ? timerDraft(was) : freshTimer(ownZone())));
  const [enable, setEnable] = useState(true);
  const save = useMutation({
    mutationFn: async () => {
      const def = timerOf(draft, app);
      if (was) return replaceTimer(was.id, def);
      const id = await createTimer(def);
      if (enable) await switchTimer({ id, app }, true);
      return id;
    },
    onSuccess: (id) => {
      notifications.show({ message: t("timers.saved", { name: draft.name.trim() }), autoClose: 3000, withCloseButton: false });
      onSaved(id);
    },
    // One that was made and could not be enabled is there. The one that was replaced is not, and is not asked for again.
    onSettled: () => void client.invalidateQueries({ queryKey: ["timers", app], predicate: (q) => q.queryKey[2] !== "one" }),
  });
  const set = (part: Partial<TimerDraft>) => {
    change({ ...draft, ...part });
    // What the server has refused was another timer.
    save.reset();
  };
  const wrong = wrongFields(save.error, t);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="schedule-form" onSubmit={submit}>
      <div className="schedule-fields">
        <WhenPart draft={draft} set={set} wrong={wrong} />
        <CallPart draft={draft} set={set} wrong={wrong} />
        {was ? (
          <p className="faint">{was.enabled ? t("timers.replaceOn") : t("timers.replaceOff")}</p>
        ) : (
          <Switch label={t("timers.enableNow")} checked={enable} onChange={(e) => setEnable(e.currentTarget.checked)} />
        )}
      </div>
      <aside className="schedule-preview" aria-label={t("schedules.nextFires")}>
        <Preview draft={draft} />
      </aside>
      <div className="schedule-end">
        <Refused error={save.error} />
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {was ? t("timers.replace") : t("timers.create")}
          </Button>
        </div>
      </div>
    </form>
  );
}

/** Refused says why the save was, where no field does. */
function Refused({ error }: { error: unknown }) {
  if (error instanceof ApiError && error.fields.length > 0 && error.fields.every((f) => placed.test(f.field))) return null;
  return <FormError error={error} />;
}

const placed = /^(name|cron|dialect|timezone|notifyHTTPParam\.)/;

interface PartProps {
  draft: TimerDraft;
  set: (part: Partial<TimerDraft>) => void;
  wrong: Record<string, string>;
}

function WhenPart({ draft, set, wrong }: PartProps) {
  const { t } = useSay();
  const zones = everyZone();
  return (
    <fieldset className="schedule-part">
      <TextInput
        label={t("timers.name")}
        value={draft.name}
        onChange={(e) => set({ name: e.currentTarget.value })}
        error={wrong.name}
        required
        maxLength={128}
        autoComplete="off"
        data-autofocus
      />
      <div className="field-pair cron">
        <TextInput
          label={t("timers.cron")}
          description={t("timers.cronHint")}
          // Below it, so that the two fields stand in one line however long it is.
          inputWrapperOrder={["label", "input", "description", "error"]}
          value={draft.cron}
          onChange={(e) => set({ cron: e.currentTarget.value })}
          error={wrong.cron}
          required
          spellCheck={false}
          autoComplete="off"
          maxLength={1024}
          classNames={{ input: "mono" }}
        />
        <Select
          label={t("schedules.dialect")}
          data={[
            { value: "", label: t("schedules.dialectAuto") },
            { value: "unix", label: "Unix" },
            { value: "quartz", label: "Quartz" },
          ]}
          value={draft.dialect}
          onChange={(v) => set({ dialect: v === "unix" || v === "quartz" ? v : "" })}
          error={wrong.dialect}
        />
      </div>
      <Select
        label={t("schedules.timezone")}
        data={zones.includes(draft.timezone) ? zones : [draft.timezone, ...zones]}
        value={draft.timezone}
        onChange={(v) => set({ timezone: v ?? "UTC" })}
        error={wrong.timezone}
        searchable
        limit={60}
      />
    </fieldset>
  );
}

function CallPart({ draft, set, wrong }: PartProps) {
  const { t } = useSay();
  const of = (name: string) =>
    wrong[`notifyHTTPParam.${name}`] ?? Object.entries(wrong).find(([f]) => f.startsWith(`notifyHTTPParam.${name}`))?.[1];
  return (
    <fieldset className="schedule-part">
      <legend>{t("timers.call")}</legend>
      <div className="field-pair timer-target">
        <Select
          label={t("timers.method")}
          data={[...methods]}
          value={draft.method}
          onChange={(v) => set({ method: methods.find((m) => m === v) ?? "POST" })}
          error={of("method")}
        />
        <TextInput
          label={t("timers.url")}
          placeholder="https://orders.example.org/ping"
          value={draft.url}
          onChange={(e) => set({ url: e.currentTarget.value })}
          error={of("url")}
          required
          spellCheck={false}
          autoComplete="off"
        />
      </div>
      <Textarea
        label={t("timers.headers")}
        description={t("timers.headersHint")}
        placeholder="X-Source: porpoise"
        rows={3}
        value={draft.headers}
        onChange={(e) => set({ headers: e.currentTarget.value })}
        error={of("header")}
        spellCheck={false}
        classNames={{ input: "mono" }}
      />
      <Textarea
        label={t("timers.body")}
        rows={4}
        value={draft.body}
        onChange={(e) => set({ body: e.currentTarget.value })}
        error={of("body")}
        spellCheck={false}
        classNames={{ input: "mono" }}
      />
      <div className="field-pair">
        <TextInput
          label={t("timers.seconds")}
          placeholder="10"
          inputMode="numeric"
          value={draft.seconds}
          onChange={(e) => set({ seconds: e.currentTarget.value })}
          error={of("timeoutSeconds")}
        />
        <TextInput
          label={t("timers.triesMost")}
          placeholder="5"
          inputMode="numeric"
          value={draft.tries}
          onChange={(e) => set({ tries: e.currentTarget.value })}
          error={of("maxTries")}
        />
      </div>
    </fieldset>
  );
}

/** Preview is what the server makes of the expression: in words, and as its next moments. */
function Preview({ draft }: { draft: TimerDraft }) {
  const { t, locale } = useSay();
  const [asked] = useDebouncedValue({ cron: draft.cron.trim(), dialect: draft.dialect || undefined, timezone: draft.timezone }, 300);
  const preview = useQuery({ ...cronWordsQuery(asked), enabled: asked.cron !== "", retry: false, refetchInterval: false });
  const words = locale === "zh-CN" ? preview.data?.words["zh-CN"] : preview.data?.words.en;
  return (
    <>
      <h2>
        {t("schedules.nextFires")}
        {preview.isFetching && <span className="more faint">{t("schedules.checking")}</span>}
      </h2>
      {asked.cron === "" ? (
        <p className="faint">{t("timers.cronFirst")}</p>
      ) : preview.isError ? (
        <p className="form-error" role="status">
          {said(preview.error, t) ?? preview.error.message}
        </p>
      ) : (
        preview.data && (
          <>
            <p className="schedule-words">{words}</p>
            <p className="faint">{t("schedules.inZone", { zone: preview.data.timezone })}</p>
            <FireLines fires={preview.data.fires} />
          </>
        )
      )}
    </>
  );
}

function ownZone(): string {
  const { zone } = settings();
  return zone === "browser" ? Intl.DateTimeFormat().resolvedOptions().timeZone : zone;
}
