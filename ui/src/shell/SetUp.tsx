import { Button, TextInput } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { setUp } from "../api/account";
import { sessionQuery } from "../api/queries";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { Entrance } from "./Entrance";
import { PasswordPair, usable } from "./PasswordPair";

/** SetUp is the first page of a new node: it gives the admin a name and a password, and then opens Today. */
export function SetUp({ suggested }: { suggested: string }) {
  const { t } = useSay();
  const client = useQueryClient();
  const go = useNavigate();
  const [name, setName] = useState(suggested);
  const create = useMutation({
    mutationFn: (form: FormData) => setUp(String(form.get("user")), String(form.get("password"))),
    onSuccess: async (me) => {
      await go({ to: "/" });
      client.setQueryData(sessionQuery.queryKey, me);
    },
  });
  const wrong = wrongFields(create.error, t);
  const elsewhere = create.isError && !wrong.name && !wrong.password;
  return (
    <Entrance title={t("account.setUp.title")} onSubmit={(form) => usable(form, name) && create.mutate(form)}>
      <p>{t("account.setUp.intro")}</p>
      <TextInput
        size="sm"
        name="user"
        label={t("account.setUp.name")}
        autoComplete="username"
        required
        value={name}
        onChange={(e) => setName(e.currentTarget.value)}
        error={wrong.name}
      />
      <PasswordPair user={name} wrong={wrong.password} />
      {elsewhere && <FormError error={create.error} />}
      <Button size="sm" type="submit" loading={create.isPending} fullWidth>
        {t("account.setUp.submit")}
      </Button>
      <p className="faint">{t("account.setUp.after")}</p>
    </Entrance>
  );
}
