import { Button, PasswordInput, Switch, TextInput } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus, Search } from "lucide-react";
import { type FormEvent, useState } from "react";
import { usersQuery } from "../api/account";
import { changeUser, createUser, deleteUser, type User } from "../api/admin";
import { wrongFields } from "../domain/problem";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { RowMenu } from "../parts/RowMenu";
import { Moment } from "../parts/Times";
import { TypedDelete } from "../parts/TypedDelete";
import { told } from "../parts/told";
import type { AdminSearch } from "../searchPages";
import { useMe } from "../shell/me";
import { Ways } from "./Ways";

interface Props {
  search: AdminSearch;
  set: (part: AdminSearch, replace?: boolean) => void;
}

/** Users is who may sign in. What each may do in a project stands on the page of its members. */
export function Users({ search, set }: Props) {
  const { t } = useSay();
  const client = useQueryClient();
  const users = useQuery(usersQuery);
  const [text, type] = useState("");
  const all = users.data ?? [];
  const shown = all.filter((u) => u.name.toLowerCase().includes(text.toLowerCase()));
  return (
    <>
      <div className="list-tools">
        <TextInput
          data-filter
          aria-label={t("admin.users.filter")}
          placeholder={t("admin.users.filter")}
          leftSection={<Search size={13} />}
          value={text}
          onChange={(e) => type(e.currentTarget.value)}
        />
        <span className="faint" role="status">
          {t("admin.users.count", { count: shown.length })}
        </span>
        <span className="push">
          <Button leftSection={<Plus size={14} />} onClick={() => set({ new: "1" })}>
            {t("admin.users.new")}
          </Button>
        </span>
      </div>
      {users.isError ? (
        <ErrorView error={users.error} retry={() => void users.refetch()} />
      ) : users.isPending ? (
        <SkeletonRows />
      ) : shown.length === 0 ? (
        <p className="empty">{t("admin.users.noMatch")}</p>
      ) : (
        <Table
          rows={shown}
          onWays={(name) => set({ open: name })}
          onReset={(name) => set({ edit: name })}
          onDelete={(name) => set({ delete: name })}
        />
      )}
      <NewUser opened={search.new === "1"} onClose={() => set({ new: undefined }, true)} />
      <Ways user={all.find((u) => u.name === search.open)?.name} onClose={() => set({ open: undefined }, true)} />
      <Reset user={all.find((u) => u.name === search.edit)?.name} onClose={() => set({ edit: undefined }, true)} />
      <TypedDelete
        name={all.find((u) => u.name === search.delete)?.name}
        about={t("admin.users.deleteAsk")}
        remove={deleteUser}
        onClose={() => set({ delete: undefined }, true)}
        onDone={(name) => {
          told(t("admin.users.deleted", { name }));
          void client.invalidateQueries({ queryKey: usersQuery.queryKey });
          set({ delete: undefined }, true);
        }}
      />
    </>
  );
}

interface TableProps {
  rows: User[];
  onWays: (name: string) => void;
  onReset: (name: string) => void;
  onDelete: (name: string) => void;
}

function Table({ rows, onWays, onReset, onDelete }: TableProps) {
  const { t } = useSay();
  const me = useMe();
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: ({ name, ...body }: { name: string; admin?: boolean; disabled?: boolean }) => changeUser(name, body),
    onSuccess: () => client.invalidateQueries({ queryKey: usersQuery.queryKey }),
  });
  return (
    <>
      <FormError error={change.error} />
      <div className="scroll-x" tabIndex={0} role="group" aria-label={t("admin.tab.users")}>
        <table className="plain">
          <thead>
            <tr>
              <th>{t("admin.users.name")}</th>
              <th>{t("admin.users.role")}</th>
              <th>{t("admin.users.standing")}</th>
              <th>{t("admin.users.since")}</th>
              <th aria-label={t("common.more")} />
            </tr>
          </thead>
          <tbody>
            {rows.map((u) => {
              const why = u.id === me.user_id ? t("admin.users.notSelf") : undefined;
              const { name } = u;
              return (
                <tr key={u.id} data-user={name}>
                  <td>
                    {name} {u.id === me.user_id && <span className="tag">{t("admin.users.you")}</span>}
                  </td>
                  <td>{u.admin ? t("account.role.admin") : <span className="faint">{t("admin.users.ordinary")}</span>}</td>
                  <td>
                    {u.disabled ? (
                      <span className="text-paused">{t("admin.users.disabled")}</span>
                    ) : (
                      <span className="faint">{t(u.must_change_password ? "admin.users.mustChange" : "admin.users.active")}</span>
                    )}
                  </td>
                  <td className="num">
                    <Moment at={u.created_at} />
                  </td>
                  <td className="end">
                    <RowMenu
                      label={t("settings.actions", { name })}
                      actions={[
                        {
                          label: t(u.admin ? "admin.users.unmakeAdmin" : "admin.users.makeAdmin"),
                          run: () => change.mutate({ name, admin: !u.admin }),
                          why,
                        },
                        {
                          label: t(u.disabled ? "admin.users.enable" : "admin.users.disable"),
                          run: () => change.mutate({ name, disabled: !u.disabled }),
                          why,
                        },
                        { label: t("admin.ways.open"), run: () => onWays(name) },
                        { label: t("admin.users.reset"), run: () => onReset(name), why },
                        { label: t("admin.users.delete"), run: () => onDelete(name), why },
                      ]}
                    />
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </>
  );
}

function NewUser({ opened, onClose }: { opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Modal opened={opened} onClose={onClose} title={t("admin.users.newTitle")} closeOnClickOutside={false}>
      {opened && <NewUserForm onClose={onClose} />}
    </Modal>
  );
}

function NewUserForm({ onClose }: { onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const make = useMutation({
    mutationFn: (form: FormData) => createUser(String(form.get("name")).trim(), String(form.get("password")), form.get("admin") === "on"),
    onSuccess: async ({ name }) => {
      told(t("admin.users.created", { name }));
      await client.invalidateQueries({ queryKey: usersQuery.queryKey });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    make.mutate(new FormData(event.currentTarget));
  };
  const wrong = wrongFields(make.error, t);
  return (
    <form className="stack" onSubmit={submit}>
      <TextInput
        name="name"
        label={t("admin.users.name")}
        required
        maxLength={128}
        autoComplete="off"
        data-autofocus
        error={wrong.name ?? wrong.user}
      />
      <FirstPassword error={wrong.password} />
      <Switch name="admin" label={t("admin.users.admin")} description={t("admin.users.adminHint")} />
      {make.isError && !wrong.name && !wrong.user && !wrong.password && <FormError error={make.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={make.isPending}>
          {t("admin.users.create")}
        </Button>
      </div>
    </form>
  );
}

/** Reset gives somebody who can no longer sign in a first password again. */
function Reset({ user, onClose }: { user: string | undefined; onClose: () => void }) {
  const { t } = useSay();
  return (
    <Modal opened={user !== undefined} onClose={onClose} title={t("admin.users.resetOf", { name: user ?? "" })} closeOnClickOutside={false}>
      {user !== undefined && <ResetForm user={user} onClose={onClose} />}
    </Modal>
  );
}

function ResetForm({ user, onClose }: { user: string; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const reset = useMutation({
    mutationFn: (form: FormData) => changeUser(user, { password: String(form.get("password")) }),
    onSuccess: async () => {
      told(t("admin.users.resetDone", { name: user }));
      await client.invalidateQueries({ queryKey: usersQuery.queryKey });
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    reset.mutate(new FormData(event.currentTarget));
  };
  const wrong = wrongFields(reset.error, t);
  return (
    <form className="stack" onSubmit={submit}>
      <p>{t("admin.users.resetAbout", { name: user })}</p>
      <FirstPassword error={wrong.password} focused />
      {reset.isError && !wrong.password && <FormError error={reset.error} />}
      <div className="dialog-end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button type="submit" loading={reset.isPending}>
          {t("admin.users.reset")}
        </Button>
      </div>
    </form>
  );
}

function FirstPassword({ error, focused }: { error: string | undefined; focused?: boolean }) {
  const { t } = useSay();
  return (
    <PasswordInput
      name="password"
      label={t("admin.users.password")}
      description={t("admin.users.passwordHint")}
      required
      autoComplete="new-password"
      data-autofocus={focused || undefined}
      visibilityToggleButtonProps={{ "aria-label": t("account.password.show") }}
      error={error}
    />
  );
}
