import { Button, Textarea, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { FormEvent } from "react";
import { createProject, describeProject, type ProjectOverview } from "../api/account";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";

/** NewProject makes a project and opens it. */
export function NewProject({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const go = useNavigate();
  const make = useMutation({
    mutationFn: (form: FormData) => createProject(String(form.get("name")).trim(), String(form.get("description"))),
    onSuccess: (made) => {
      void client.invalidateQueries({ queryKey: ["overview"] });
      void client.invalidateQueries({ queryKey: ["projects"] });
      void go({ to: "/p/$project/workflows", params: { project: made.name } });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(new FormData(event.currentTarget));
  };
  const wrong = wrongFields(make.error, t);
  return (
    <Modal opened={opened} onClose={onClose} title={t("account.projects.newTitle")}>
      <form className="stack" onSubmit={submit}>
        <TextInput
          name="name"
          label={t("projects.name")}
          required
          maxLength={128}
          autoComplete="off"
          data-autofocus
          error={wrong.project}
        />
        <Textarea
          name="description"
          label={t("projects.description")}
          placeholder={t("account.projects.descriptionHint")}
          autosize
          minRows={2}
        />
        {make.isError && !wrong.project && <FormError error={make.error} />}
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={make.isPending}>
            {t("account.projects.create")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** EditProject changes what a project says of itself. */
export function EditProject({ project, onClose }: { project: ProjectOverview | undefined; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (form: FormData) => describeProject(project?.name ?? "", String(form.get("description"))),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["overview"] });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  };
  return (
    <Modal opened={project !== undefined} onClose={onClose} title={t("account.projects.editTitle", { project: project?.name ?? "" })}>
      <form className="stack" onSubmit={submit}>
        <Textarea
          name="description"
          label={t("projects.description")}
          defaultValue={project?.description}
          placeholder={t("account.projects.descriptionHint")}
          autosize
          minRows={2}
          maxRows={12}
          data-autofocus
        />
        <FormError error={save.error} />
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t("account.projects.save")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
