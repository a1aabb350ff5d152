import { Button, Switch, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { saveDraft, saveVersion } from "../api/definitions";
import type { Findings } from "../api/imports";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { ImportFindings } from "./ImportFindings";

interface Props {
  project: string;
  text: string;
  format: "yaml" | "json";
  found: Findings;
  onClose: () => void;
}

/** ImportOne saves one definition. What is wrong with it can be mended in the editor, as a draft. */
export function ImportOne({ project, text, format, found, onClose }: Props) {
  const { t } = useSay();
  const client = useQueryClient();
  const go = useNavigate();
  const [name, setName] = useState(found.name ?? "");
  const [publish, setPublish] = useState(true);
  const save = useMutation({
    mutationFn: async () => {
      const workflow = name.trim();
      const { renamed } = await import("./rename");
      const mine = workflow === found.name ? text : (renamed(text, workflow) ?? text);
      if (found.valid) await saveVersion({ project, workflow, text: mine, format, match: 0, publish, message: "" });
      else await saveDraft({ project, workflow, text: mine, format, base: 0 });
      return workflow;
    },
    onSuccess: (workflow) => {
      void client.invalidateQueries({ queryKey: ["overview"] });
      void client.invalidateQueries({ queryKey: ["workflows"] });
      onClose();
      const params = { project, workflow };
      if (!found.valid) return void go({ to: "/p/$project/w/$workflow/edit", params, search: { view: "split" } });
      notifications.show({ message: t("account.import.saved", { name: workflow }), autoClose: 4000, withCloseButton: false });
      return void go({ to: "/p/$project/w/$workflow", params });
    },
  });
  const wrong = wrongFields(save.error, t);
  return (
    <form
      className="stack"
      aria-label={t("account.import.result")}
      onSubmit={(event) => {
        event.preventDefault();
        save.mutate();
      }}
    >
      {found.valid ? (
        <p role="status">{t("account.import.good", { name: found.name ?? "", count: found.tasks })}</p>
      ) : (
        <p role="status">{t("account.import.bad", { count: found.errors.length })}</p>
      )}
      <ImportFindings list={[...found.errors, ...found.warnings]} />
      <TextInput
        label={t("account.workflows.newName")}
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
        required
        maxLength={128}
        autoComplete="off"
        error={wrong.name ?? wrong.workflow}
      />
      {found.valid && (
        <Switch label={t("account.import.publish")} checked={publish} onChange={(e) => setPublish(e.currentTarget.checked)} />
      )}
      {save.isError && wrong.name === undefined && wrong.workflow === undefined && <FormError error={save.error} />}
      <div className="dialog-end">
        <Button type="submit" loading={save.isPending}>
          {t(found.valid ? "account.import.save" : "account.import.draft")}
        </Button>
      </div>
    </form>
  );
}
