import { Autocomplete, Button, Select } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { type FormEvent, useState } from "react";
import { RoleWord } from "../account/RoleWord";
import { deleteMember, type Member, membersQuery, putMember, usersQuery } from "../api/account";
import { wrongFields } from "../domain/problem";
import { isRole, type Role, roles } from "../domain/rights";
import { useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Guarded } from "../parts/Guarded";
import { Modal } from "../parts/layers";
import { ProjectNav } from "../parts/ProjectNav";
import { useMe, useWhyNot } from "../shell/me";
import "../account/account.css";
import { useStay } from "../parts/useStay";

const route = getRouteApi("/p/$project/members");

function useRoleChoices(): { value: Role; label: string }[] {
  const { t } = useSay();
  return roles.map((r) => ({ value: r, label: `${t(`account.role.${r}`)}: ${t(`account.role.about.${r}`)}` }));
}

/** MembersPage is who has which role in a project. */
export function MembersPage() {
  const { t } = useSay();
  const { project } = route.useParams();
  const search = route.useSearch();
  const go = useStay(route.useNavigate());
  const members = useQuery(membersQuery(project));
  const why = useWhyNot(project)("owner");
  const close = () => void go({ search: {}, replace: true });
  return (
    <div className="page">
      <ProjectNav project={project} />
      <div className="title-row">
        <h1>{t("account.projects.membersOf", { project })}</h1>
        <span className="push">
          <Guarded leftSection={<Plus size={14} />} why={why} onClick={() => void go({ search: { add: "1" } })}>
            {t("account.members.add")}
          </Guarded>
        </span>
      </div>
      {members.isError ? (
        <ErrorView error={members.error} retry={() => void members.refetch()} />
      ) : members.isPending ? (
        <SkeletonRows />
      ) : members.data.length === 0 ? (
        <p className="empty">{t("account.members.empty")}</p>
      ) : (
        <Table project={project} list={members.data} why={why} onRemove={(user) => void go({ search: { remove: user } })} />
      )}
      <AddMember project={project} opened={search.add === "1" && why === undefined} onClose={close} />
      <RemoveMember project={project} user={members.data?.find((m) => m.user === search.remove)?.user} onClose={close} />
    </div>
  );
}

interface TableProps {
  project: string;
  list: Member[];
  why: string | undefined;
  onRemove: (user: string) => void;
}

function Table({ project, list, why, onRemove }: TableProps) {
  const { t } = useSay();
  const client = useQueryClient();
  const choices = useRoleChoices();
  const change = useMutation({
    mutationFn: ({ user, role }: Member) => putMember(project, user, role),
    onSuccess: async ({ user, role }) => {
      notifications.show({
        message: t("account.members.changed", { user, role: t(`account.role.${role}`) }),
        autoClose: 3000,
        withCloseButton: false,
      });
      await client.invalidateQueries({ queryKey: membersQuery(project).queryKey });
    },
  });
  return (
    <>
      <FormError error={change.error} />
      <table className="plain">
        <thead>
          <tr>
            <th>{t("account.members.user")}</th>
            <th>{t("account.members.role")}</th>
            <th aria-label={t("account.members.remove")} />
          </tr>
        </thead>
        <tbody>
          {list.map((m) => (
            <tr key={m.user}>
              <td>{m.user}</td>
              <td>
                {why !== undefined ? (
                  <RoleWord role={m.role} />
                ) : (
                  <Select
                    aria-label={t("account.members.roleOf", { user: m.user })}
                    data={choices}
                    value={m.role}
                    disabled={change.isPending}
                    w={300}
                    onChange={(role) => isRole(role) && role !== m.role && change.mutate({ user: m.user, role })}
                  />
                )}
              </td>
              <td className="end">
                <Guarded variant="default" why={why} onClick={() => onRemove(m.user)}>
                  {t("account.members.remove")}
                  <span className="unseen"> {m.user}</span>
                </Guarded>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function AddMember({ project, opened, onClose }: { project: string; opened: boolean; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const me = useMe();
  const choices = useRoleChoices();
  // Only an admin may list who there is; an owner types the name.
  const users = useQuery({ ...usersQuery, enabled: opened && me.admin });
  const [user, setUser] = useState("");
  const add = useMutation({
    mutationFn: (role: Role) => putMember(project, user.trim(), role),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: membersQuery(project).queryKey });
      setUser("");
      onClose();
    },
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const role = String(new FormData(event.currentTarget).get("role"));
    if (isRole(role)) add.mutate(role);
  };
  const wrong = wrongFields(add.error, t);
  return (
    <Modal opened={opened} onClose={onClose} title={t("account.members.addTitle", { project })}>
      <form className="stack" onSubmit={submit}>
        <Autocomplete
          size="xs"
          label={t("account.members.user")}
          description={t("account.members.userHint")}
          data={(users.data ?? []).map((u) => u.name)}
          value={user}
          onChange={setUser}
          required
          autoComplete="off"
          data-autofocus
          openOnFocus={false}
          error={wrong.user}
        />
        <Select name="role" label={t("account.members.role")} data={choices} defaultValue="viewer" />
        {add.isError && !wrong.user && <FormError error={add.error} />}
        <div className="dialog-end">
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" loading={add.isPending}>
            {t("account.members.addDo")}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function RemoveMember({ project, user, onClose }: { project: string; user: string | undefined; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const remove = useMutation({
    mutationFn: (name: string) => deleteMember(project, name),
    onSuccess: async () => {
      onClose();
      await client.invalidateQueries({ queryKey: membersQuery(project).queryKey });
    },
  });
  return (
    <Modal
      opened={user !== undefined}
      onClose={() => {
        remove.reset();
        onClose();
      }}
      title={t("account.members.removeOf", { user: user ?? "" })}
    >
      <div className="stack">
        <p>{t("account.members.removeAsk", { user: user ?? "", project })}</p>
        <FormError error={remove.error} />
        <div className="dialog-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t("common.cancel")}
          </Button>
          <Button loading={remove.isPending} onClick={() => user !== undefined && remove.mutate(user)}>
            {t("account.members.remove")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
