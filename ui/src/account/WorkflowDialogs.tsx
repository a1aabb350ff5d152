import { Button, Select, TextInput } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import type { WorkflowOverview } from "../api/account";
import { projectsQuery } from "../api/queries";
import { wrongFields } from "../domain/problem";
import { may } from "../domain/rights";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { copyWorkflow, Unreadable } from "./definition";

/** NewWorkflow asks for the name alone: everything else is the editor's. */
export function NewWorkflow({ project, opened, onClose }: { project: string; opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  const go = useNavigate();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const workflow = String(new FormData(event.currentTarget).get("name")).trim();
    if (workflow) void go({ to: "/p/$project/w/$workflow/edit", params: { project, workflow }, search: { new: "1" } });
  };
  return (
    <Modal opened={opened} onClose={onClose} title={t("account.workflows.newTitle", { project })}>
      <form className="stack" onSubmit={submit}>
        <TextInput name="name" label={t("account.workflows.newName")} required maxLength={128} autoComplete="off" data-autofocus />
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit">{t("account.workflows.newDo")}</Button>
        </div>
      </form>
    </Modal>
  );
}

interface CopyProps {
  workflow: WorkflowOverview | undefined;
  onClose: () => void;
}

/** CopyWorkflow saves the newest text under another name, unpublished: a copy must not run before it was looked at. */
export function CopyWorkflow({ workflow, onClose }: CopyProps) {
  const { t } = useSay();
  return (
    <Modal opened={workflow !== undefined} onClose={onClose} title={t("account.workflows.copyTitle", { name: workflow?.name ?? "" })}>
      {workflow && <CopyForm workflow={workflow} onClose={onClose} />}
    </Modal>
  );
}

function CopyForm({ workflow, onClose }: { workflow: WorkflowOverview; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const go = useNavigate();
  const projects = useQuery(projectsQuery);
  const targets = (projects.data ?? []).filter((p) => may(p.role, "editor")).map((p) => p.name);
  const copy = useMutation({
    mutationFn: (form: FormData) => {
      const to = { project: String(form.get("project") || workflow.project), workflow: String(form.get("name")).trim() };
      return copyWorkflow({ project: workflow.project, workflow: workflow.name }, to);
    },
    onSuccess: (to) => {
      notifications.show({ message: t("account.workflows.copied", { name: to.workflow }), autoClose: 4000, withCloseButton: false });
      void client.invalidateQueries({ queryKey: ["overview"] });
      void client.invalidateQueries({ queryKey: ["workflows"] });
      onClose();
      if (to.project !== workflow.project) void go({ to: "/p/$project/workflows", params: { project: to.project } });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    copy.mutate(new FormData(event.currentTarget));
  };
  const wrong = wrongFields(copy.error, t);
  const name = wrong.name ?? wrong.workflow;
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        name="name"
        label={t("account.workflows.copyName")}
        defaultValue={t("account.workflows.copySuffix", { name: workflow.name })}
        required
        maxLength={128}
        autoComplete="off"
        data-autofocus
        error={name}
      />
      <Select
        name="project"
        label={t("account.workflows.copyTo")}
        data={targets.length > 0 ? targets : [workflow.project]}
        defaultValue={workflow.project}
      />
      {copy.error instanceof Unreadable ? (
        <p className="form-error" role="alert">
          {t("account.workflows.copyBroken")}
        </p>
      ) : (
        copy.isError && name === undefined && <FormError error={copy.error} />
      )}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={copy.isPending}>
          {t("account.workflows.copyDo")}
        </Button>
      </div>
    </form>
  );
}
