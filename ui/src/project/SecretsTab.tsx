import { PasswordInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { deleteSecret, putSecret, type Secret, secretsQuery } from "../api/settings";
import { useSay } from "../i18n";
import { Moment } from "../parts/Times";
import { ThingForm } from "./ThingForm";
import { Things } from "./Things";
import type { TabProps } from "./tab";

/** SecretsTab is the secrets of a project, or of all: their names, never their values. */
export function SecretsTab({ project, why, search, set }: TabProps) {
  const { t } = useSay();
  const query = useQuery(secretsQuery(project));
  return (
    <Things<Secret>
      query={query}
      about={t(project === undefined ? "admin.secrets.about" : "settings.secrets.about")}
      empty={t("settings.secrets.empty")}
      newLabel={t("settings.secrets.new")}
      editLabel={t("settings.secrets.replaceDo")}
      deleteAsk={t("settings.secrets.deleteAsk")}
      why={why}
      fixed={(s) => (project !== undefined && s.all_projects ? t("account.why.admin") : undefined)}
      search={search}
      set={set}
      columns={[
        {
          head: t("settings.description"),
          className: "wide",
          cell: (s) => (
            <>
              {s.description} {project !== undefined && s.all_projects && <span className="tag">{t("settings.secrets.common")}</span>}
            </>
          ),
        },
        { head: t("settings.secrets.key"), cell: (s) => <code className="faint">{s.key}</code> },
        { head: t("settings.changed"), cell: (s) => <Moment at={s.updated_at} /> },
        { head: t("settings.by"), cell: (s) => s.updated_by },
      ]}
      remove={(name) => deleteSecret(project, name)}
      form={(was, done, close) => (
        <ThingForm
          was={was}
          nameField="secret"
          save={(name, form) => putSecret(project, name, String(form.get("value")), String(form.get("description")))}
          onDone={done}
          onClose={close}
          saveLabel={was && t("settings.secrets.replaceDo")}
        >
          {(wrong) => (
            <PasswordInput
              name="value"
              label={t(was ? "settings.secrets.replace" : "settings.secrets.value")}
              description={t("settings.secrets.valueHint")}
              required
              autoComplete="new-password"
              visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
              error={wrong("value")}
            />
          )}
        </ThingForm>
      )}
    />
  );
}
