import { Button, Switch, Textarea } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { saveVersion } from "../api/definitions";
import { versionQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { Modal } from "../parts/layers";

interface Props {
  project: string;
  workflow: string;
  /** version is the one to bring back; none closes the dialog. */
  version: number | undefined;
  latest: number;
  onClose: () => void;
}

/** RestoreDialog saves an old version's text as the next version: nothing in between is lost. */
export function RestoreDialog({ version, latest, onClose, ...of }: Props) {
  const { t } = useSay();
  return (
    <Modal opened={version !== undefined} onClose={onClose} title={t("versions.restoreAs", { version: version ?? 0, next: latest + 1 })}>
      {version !== undefined && <Body {...of} version={version} latest={latest} onClose={onClose} />}
    </Modal>
  );
}

function Body({ project, workflow, version, latest, onClose }: Omit<Props, "version"> & { version: number }) {
  const { t } = useSay();
  const client = useQueryClient();
  const old = useQuery(versionQuery(project, workflow, version));
  const restore = useMutation({
    mutationFn: (wish: { message: string; publish: boolean; text: string; format: "yaml" | "json" }) =>
      saveVersion({ project, workflow, match: latest, ...wish }),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["workflow", project, workflow] });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!old.data) return;
    const form = new FormData(event.currentTarget);
    const { text, format } = old.data;
    restore.mutate({ message: String(form.get("message") ?? "").trim(), publish: form.get("publish") !== null, text, format });
  };
  return (
    <form className="stack" onSubmit={submit}>
      <p className="faint">{t("versions.restoreHint", { version, latest })}</p>
      <Textarea
        name="message"
        label={t("editor.message")}
        defaultValue={t("versions.restored", { version })}
        maxLength={500}
        autosize
        data-autofocus
      />
      <Switch name="publish" label={t("editor.publishNow")} defaultChecked />
      {(restore.isError || old.isError) && <ErrorView error={restore.error ?? old.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={restore.isPending || old.isPending}>
          {t("versions.restore")}
        </Button>
      </div>
    </form>
  );
}
