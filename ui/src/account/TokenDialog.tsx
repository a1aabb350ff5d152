import { Button, Select, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { createToken, tokensQuery } from "../api/account";
import { projectsQuery } from "../api/queries";
import { wrongFields } from "../domain/problem";
import { isRole, roles } from "../domain/rights";
import { useSay } from "../i18n";
import { CopyButton } from "../parts/CopyButton";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";

const lives = [7, 30, 90, 365];
const day = 86_400_000;

/** TokenDialog makes a token and shows its secret, this once. */
export function TokenDialog({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  return (
    // A click beside the dialog must not lose the secret.
    <Modal opened={opened} onClose={onClose} title={t("account.tokens.new")} closeOnClickOutside={false}>
      {opened && <Body onClose={onClose} />}
    </Modal>
  );
}

function Body({ onClose }: { onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const projects = useQuery(projectsQuery);
  const make = useMutation({
    mutationFn: (form: FormData) => {
      const role = String(form.get("role"));
      const project = String(form.get("project"));
      const until = new Date(Date.now() + Number(form.get("days")) * day).toISOString();
      return createToken({
        name: String(form.get("name")),
        role: isRole(role) ? role : undefined,
        project: project === "" ? undefined : project,
        expires_at: until,
      });
    },
    onSuccess: () => client.invalidateQueries({ queryKey: tokensQuery.queryKey }),
  });
  if (make.data) {
    return (
      <div className="stack">
        <p>{t("account.tokens.secret")}</p>
        <div className="secret">
          <code>{make.data.secret}</code>
          <CopyButton value={make.data.secret} />
        </div>
        <div className="dialog-end">
          <Button onClick={onClose} data-autofocus>
            {t("account.tokens.done")}
          </Button>
        </div>
      </div>
    );
  }
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(new FormData(event.currentTarget));
  };
  const wrong = wrongFields(make.error, t);
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        name="name"
        label={t("account.tokens.name")}
        required
        maxLength={128}
        autoComplete="off"
        data-autofocus
        error={wrong.name}
      />
      <Select
        name="role"
        label={t("account.tokens.role")}
        data={[{ value: "", label: t("account.tokens.roleAll") }, ...roles.map((r) => ({ value: r, label: t(`account.role.${r}`) }))]}
        defaultValue=""
      />
      <Select
        name="project"
        label={t("account.tokens.project")}
        data={[
          { value: "", label: t("account.tokens.projectAll") },
          ...(projects.data ?? []).map((p) => ({ value: p.name, label: p.name })),
        ]}
        defaultValue=""
        error={wrong.project}
      />
      <Select
        name="days"
        label={t("account.tokens.days")}
        data={lives.map((n) => ({ value: String(n), label: t("account.tokens.daysN", { count: n }) }))}
        defaultValue="90"
        error={wrong.expires_at}
      />
      {make.isError && Object.keys(wrong).length === 0 && <FormError error={make.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={make.isPending}>
          {t("account.tokens.create")}
        </Button>
      </div>
    </form>
  );
}
