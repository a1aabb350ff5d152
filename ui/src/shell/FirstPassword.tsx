import { Button, PasswordInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { changePassword } from "../api/account";
import { sessionQuery } from "../api/queries";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Entrance } from "./Entrance";
import { PasswordPair, usable } from "./PasswordPair";

/** FirstPassword stands before the console until a password that an admin has given is replaced. */
export function FirstPassword({ name }: { name: string }) {
  const { t } = useSay();
  const client = useQueryClient();
  const save = useMutation({
    mutationFn: (form: FormData) => changePassword(String(form.get("current")), String(form.get("password"))),
    onSuccess: () => client.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  const wrong = wrongFields(save.error, t);
  return (
    <Entrance title={t("account.first.title")} onSubmit={(form) => usable(form, name) && save.mutate(form)}>
      <p>{t("account.first.intro", { name })}</p>
      <input type="hidden" name="user" autoComplete="username" value={name} />
      <PasswordInput
        size="sm"
        name="current"
        label={t("account.password.current")}
        autoComplete="current-password"
        required
        error={wrong.current}
        visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
      />
      <PasswordPair user={name} wrong={wrong.new} />
      {save.isError && !wrong.current && !wrong.new && <FormError error={save.error} />}
      <Button size="sm" type="submit" loading={save.isPending} fullWidth>
        {t("account.first.submit")}
      </Button>
    </Entrance>
  );
}
