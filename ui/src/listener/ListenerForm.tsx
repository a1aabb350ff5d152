import { Button, PasswordInput, Radio, TagsInput, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { type Listener, putListener } from "../api/listeners";
import { workflowsQuery } from "../api/queries";
import { filterOf, kinds, nothing, type Own, type Preset, presetOf, presets } from "../domain/listen/filter";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { told } from "../parts/told";

interface Props {
  project: string;
  listener?: Listener; // that is changed; without it a new one is made
  opened: boolean;
  onClose: () => void;
}

/** ListenerForm makes a listener, or changes one. */
export function ListenerForm({ opened, listener, ...of }: Props) {
  const { t } = useSay();
  return (
    <Modal
      opened={opened}
      onClose={of.onClose}
      title={listener ? t("listeners.editTitle", { name: listener.name }) : t("listeners.new")}
      // What was entered must not go by a click beside it.
      closeOnClickOutside={false}
      size="lg"
    >
      {opened && <Body listener={listener} {...of} />}
    </Modal>
  );
}

const states = ["success", "failed", "stopped", "quarantined", "killed", "upstream_failed", "forced_success", "skipped"];

function Body({ project, listener, onClose }: Omit<Props, "opened">) {
  const { t } = useSay();
  const client = useQueryClient();
  // What was opened is what is changed: news of it must not write over what is being typed.
  const [was] = useState(listener);
  const [{ preset, own }, choose] = useState<{ preset: Preset; own: Own }>(() =>
    was ? presetOf(was.filter) : { preset: "failures", own: nothing },
  );
  const workflows = useQuery({ ...workflowsQuery(project), enabled: preset === "own" });
  const save = useMutation({
    mutationFn: (form: FormData) => {
      const secret = String(form.get("secret") ?? "");
      return putListener(project, was?.name ?? String(form.get("name")).trim(), {
        url: String(form.get("url")).trim(),
        description: String(form.get("description") ?? ""),
        filter: filterOf(preset, own, was?.filter),
        enabled: was?.enabled ?? true,
        ...(secret !== "" && { secret }),
      });
    },
    onSuccess: async (saved) => {
      await client.invalidateQueries({ queryKey: ["listeners"] });
      told(t("listeners.saved", { name: saved.name }));
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  };
  const wrong = wrongFields(save.error, t);
  const of = (field: string) => Object.entries(wrong).find(([name]) => name === field || name.startsWith(`${field}[`))?.[1];
  const placed = Object.keys(wrong).length > 0 && Object.keys(wrong).every((f) => /^(listener$|url$|secret|description|filter\.)/.test(f));
  const tags = (name: "events" | "workflows" | "tasks" | "states", data: readonly string[]) => (
    <TagsInput
      label={t(`listeners.${name}`)}
      placeholder={own[name].length === 0 ? t("listeners.any") : undefined}
      data={[...data]}
      value={own[name]}
      onChange={(v) => choose({ preset, own: { ...own, [name]: v } })}
      clearable
      clearButtonProps={{ "aria-label": t("common.clear") }}
      error={of(`filter.${name}`)}
    />
  );
  return (
    <form className="stack" onSubmit={submit}>
      {!was && (
        <TextInput
          name="name"
          label={t("listeners.name")}
          description={t("listeners.nameHint")}
          required
          maxLength={128}
          autoComplete="off"
          data-autofocus
          error={wrong.listener}
        />
      )}
      <TextInput
        name="url"
        label={t("listeners.url")}
        description={t("listeners.urlHint")}
        required
        type="url"
        maxLength={2048}
        defaultValue={was?.url}
        autoComplete="off"
        placeholder="https://ops.example.org/hook"
        error={wrong.url}
      />
      <Radio.Group
        label={t("listeners.what")}
        value={preset}
        onChange={(v) => choose({ preset: presets.find((p) => p === v) ?? "own", own })}
      >
        <div className="listener-presets">
          {presets.map((p) => (
            <Radio key={p} value={p} label={t(`listeners.preset.${p}`)} description={t(`listeners.preset.${p}About`)} />
          ))}
        </div>
      </Radio.Group>
      {preset === "own" && (
        <>
          {tags("events", kinds)}
          {tags("workflows", workflows.data?.map((w) => w.name) ?? [])}
          {tags("tasks", [])}
          {tags("states", states)}
          <TextInput
            label={t("listeners.when")}
            description={t("listeners.whenHint")}
            value={own.when}
            onChange={(e) => choose({ preset, own: { ...own, when: e.currentTarget.value } })}
            maxLength={4096}
            error={of("filter.when")}
          />
        </>
      )}
      <PasswordInput
        name="secret"
        label={t("listeners.secret")}
        description={t("listeners.secretHint")}
        maxLength={1024}
        autoComplete="new-password"
        visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
        error={wrong.secret}
      />
      <Textarea name="description" label={t("listeners.description")} defaultValue={was?.description} autosize minRows={1} maxRows={5} />
      <p className="faint">{t("listeners.docs")}</p>
      {save.isError && !placed && <FormError error={save.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={save.isPending}>
          {t("listeners.save")}
        </Button>
      </div>
    </form>
  );
}
