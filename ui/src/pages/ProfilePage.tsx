import { Button, PasswordInput, Tabs } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { SessionList } from "../account/SessionList";
import { TokenList } from "../account/TokenList";
import { changePassword } from "../api/account";
import { sessionQuery } from "../api/queries";
import { wrongFields } from "../domain/problem";
import { isRole } from "../domain/rights";
import { useSay } from "../i18n";
import { FormError } from "../parts/FormError";
import { type ProfileSearch, type ProfileTab, profileTabs } from "../searchAccount";
import { useMe } from "../shell/me";
import { PasswordPair, usable } from "../shell/PasswordPair";
import { Preferences } from "../shell/Preferences";
import "../account/account.css";
import { useStay } from "../parts/useStay";

const route = getRouteApi("/profile");
const words = {
  account: "account.profile.tabAccount",
  sessions: "account.profile.tabSessions",
  tokens: "account.profile.tabTokens",
  preferences: "account.profile.tabPreferences",
} as const satisfies Record<ProfileTab, string>;

/** ProfilePage is the person's own: who he is, where he is signed in, what acts for him, what he prefers. */
export function ProfilePage() {
  const { t } = useSay();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const set = (part: ProfileSearch, replace = false) => void go({ search: (s) => ({ ...s, ...part }), replace });
  return (
    <div className="page">
      <h1>{t("account.profile.title")}</h1>
      <Tabs
        value={search.tab ?? "account"}
        onChange={(v) => void go({ search: { tab: profileTabs.find((x) => x === v) } })}
        keepMounted={false}
        className="tabs"
      >
        <Tabs.List aria-label={t("account.profile.title")}>
          {profileTabs.map((x) => (
            <Tabs.Tab key={x} value={x}>
              {t(words[x])}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="account" className="panel">
          <Account />
        </Tabs.Panel>
        <Tabs.Panel value="sessions" className="panel">
          <SessionList />
        </Tabs.Panel>
        <Tabs.Panel value="tokens" className="panel">
          <TokenList search={search} set={set} />
        </Tabs.Panel>
        <Tabs.Panel value="preferences" className="panel">
          <div className="narrow">
            <Preferences all />
          </div>
        </Tabs.Panel>
      </Tabs>
    </div>
  );
}

function Account() {
  const { t } = useSay();
  const me = useMe();
  const own = Object.entries(me.roles);
  return (
    <>
      <dl className="account-facts">
        <dt>{t("account.profile.name")}</dt>
        <dd>{me.name}</dd>
        <dt>{t("account.profile.roles")}</dt>
        <dd>
          {me.admin ? (
            t("account.profile.admin")
          ) : own.length === 0 ? (
            t("account.profile.noRole")
          ) : (
            <ul>
              {own.map(([project, role]) => (
                <li key={project}>{t("account.profile.perProject", { project, role: isRole(role) ? t(`account.role.${role}`) : role })}</li>
              ))}
            </ul>
          )}
        </dd>
      </dl>
      <Password name={me.name} />
    </>
  );
}

function Password({ name }: { name: string }) {
  const { t } = useSay();
  const client = useQueryClient();
  const [round, setRound] = useState(0); // a new form after each success
  const save = useMutation({
    mutationFn: (form: FormData) => changePassword(String(form.get("current")), String(form.get("password"))),
    onSuccess: async () => {
      setRound((n) => n + 1);
      notifications.show({ message: t("account.profile.passwordSaved"), autoClose: 5000, withCloseButton: false });
      await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    if (usable(form, name)) save.mutate(form);
  };
  const wrong = wrongFields(save.error, t);
  return (
    <section className="narrow">
      <h2>{t("account.profile.changePassword")}</h2>
      <form key={round} className="stack" onSubmit={submit}>
        <input type="hidden" name="user" autoComplete="username" value={name} />
        <PasswordInput
          name="current"
          label={t("account.password.current")}
          autoComplete="current-password"
          required
          error={wrong.current}
          visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
        />
        <PasswordPair user={name} wrong={wrong.new} size="xs" />
        {save.isError && !wrong.current && !wrong.new && <FormError error={save.error} />}
        <div>
          <Button type="submit" loading={save.isPending}>
            {t("account.profile.changePassword")}
          </Button>
        </div>
      </form>
    </section>
  );
}
