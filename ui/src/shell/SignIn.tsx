import { Button, PasswordInput, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { FormEvent } from "react";
import { signIn } from "../api/commands";
import { sessionQuery } from "../api/queries";
import { useSay } from "../i18n";
import { ErrorView } from "../parts/ErrorView";
import { Mark } from "./Mark";

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
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    sign.mutate(new FormData(event.currentTarget));
  };
  return (
    <main className="sign-in">
      <form onSubmit={submit}>
        <Mark size={36} />
        <h1>{t("signIn.title")}</h1>
        {expired && <p role="status">{t("signIn.expired")}</p>}
        <TextInput size="sm" name="user" label={t("signIn.user")} autoComplete="username" required data-autofocus />
        <PasswordInput size="sm" name="password" label={t("signIn.password")} autoComplete="current-password" required />
        {sign.isError && <ErrorView error={sign.error} />}
        <Button size="sm" type="submit" loading={sign.isPending} fullWidth>
          {t("signIn.submit")}
        </Button>
        <p className="faint">{t("signIn.hint")}</p>
      </form>
    </main>
  );
}
