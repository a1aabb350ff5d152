import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { rotateSecretKey, secretsQuery } from "../api/settings";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { SecretsTab } from "../project/SecretsTab";
import type { TabProps } from "../project/tab";

/** CommonSecrets is the secrets of all projects, and the keys that seal secrets. */
export function CommonSecrets(props: Omit<TabProps, "project">) {
  const { t } = useSay();
  const client = useQueryClient();
  const secrets = useQuery(secretsQuery());
  const keys = [...new Set((secrets.data ?? []).map((s) => s.key))];
  const rotate = useMutation({
    mutationFn: rotateSecretKey,
    onSuccess: () => client.invalidateQueries({ queryKey: ["settings"] }),
  });
  return (
    <>
      <SecretsTab {...props} />
      <section className="key-part">
        <h2>{t("admin.secrets.key")}</h2>
        {keys.length === 1 && <p>{t("admin.secrets.oneKey", { key: keys[0] ?? "" })}</p>}
        {keys.length > 1 && <p className="warning">{t("admin.secrets.manyKeys", { count: keys.length, keys: keys.join(", ") })}</p>}
        <p className="faint">{t("admin.secrets.rotateAbout")}</p>
        <FormError error={rotate.error} />
        {rotate.data && <p role="status">{t("admin.secrets.rotated", { count: rotate.data.count, key: rotate.data.key })}</p>}
        <div>
          <Button variant="default" loading={rotate.isPending} onClick={() => rotate.mutate()}>
            {t("admin.secrets.rotate")}
          </Button>
        </div>
      </section>
    </>
  );
}
