import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { signIn } from "../api/commands";
import { sessionQuery } from "../api/queries";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Entrance } from "./Entrance";

/** SignIn stands where the page would be; the address stays, so that one comes back to it. */
export function SignIn({ expired }: { expired: boolean }) {
  const { t } = useSay();
  const client = useQueryClient();
  const sign = useMutation({
    mutationFn: (form: FormData) => signIn(String(form.get("user")), String(form.get("password"))),
    onSuccess: async (me) => {
      client.setQueryData(sessionQuery.queryKey, me);
      await client.invalidateQueries({ predicate: (q) => q.queryKey[0] !== "session" });
    },
  });
  // The server sends the opener of a link that is over here.
  const over = new URLSearchParams(location.search).get("link") === "over";
  return (
    <Entrance title={t("signIn.title")} onSubmit={(form) => sign.mutate(form)}>
      {expired && <p role="status">{t("signIn.expired")}</p>}
      {over && !expired && <p role="status">{t("account.signIn.linkOver")}</p>}
      <TextInput size="sm" name="user" label={t("signIn.user")} autoComplete="username" required data-autofocus />
      <PasswordInput
        size="sm"
        name="password"
        label={t("signIn.password")}
        autoComplete="current-password"
        required
        visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
      />
      <FormError error={sign.error} />
      <Button size="sm" type="submit" loading={sign.isPending} fullWidth>
        {t("signIn.submit")}
      </Button>
      <p className="faint">{t("signIn.hint")}</p>
    </Entrance>
  );
}
