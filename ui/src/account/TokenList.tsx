import { Button } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { revokeToken, type Token, tokensOfQuery, tokensQuery } from "../api/account";
import { isRole } from "../domain/rights";
import { type Say, useSay } from "../i18n";
import { ErrorView, SkeletonRows } from "../parts/ErrorView";
import { FormError } from "../parts/FormError";
import { Modal } from "../parts/layers";
import { Moment } from "../parts/Times";
import type { ProfileSearch } from "../searchAccount";
import { TokenDialog } from "./TokenDialog";

interface Props {
  search: ProfileSearch;
  set: (part: ProfileSearch, replace?: boolean) => void;
  user?: string; // another one, whose tokens an admin sees
}

function scope(t: Say, token: Token): string {
  const { role } = token;
  const most = role === undefined ? t("account.tokens.all") : roleMost(t, role);
  return token.project === undefined ? most : `${most}, ${t("account.tokens.only", { project: token.project })}`;
}

function roleMost(t: Say, role: string): string {
  return t("account.tokens.most", { role: isRole(role) || role === "admin" ? t(`account.role.${role}`) : role });
}

/** TokenList is what acts for the person without a browser. */
export function TokenList({ search, set, user }: Props) {
  const { t } = useSay();
  const tokens = useQuery(tokensOfQuery(user));
  if (tokens.isError) return <ErrorView error={tokens.error} retry={() => void tokens.refetch()} />;
  if (tokens.isPending) return <SkeletonRows />;
  const gone = tokens.data.find((x) => x.id === search.revoke);
  return (
    <>
      {user === undefined && (
        <div className="title-row">
          <p className="faint">{t("account.tokens.use")}</p>
          <Button className="push" leftSection={<Plus size={14} />} onClick={() => set({ new: "1" })}>
            {t("account.tokens.new")}
          </Button>
        </div>
      )}
      {tokens.data.length === 0 ? (
        <p className="empty">{t(user === undefined ? "account.tokens.empty" : "admin.ways.noTokens")}</p>
      ) : (
        <div className="scroll-x" tabIndex={0} role="group" aria-label={t("account.profile.tabTokens")}>
          <table className="plain">
            <thead>
              <tr>
                <th>{t("account.tokens.name")}</th>
                <th>{t("account.tokens.scope")}</th>
                <th>{t("account.tokens.created")}</th>
                <th>{t("account.tokens.expires")}</th>
                <th aria-label={t("account.tokens.revoke")} />
              </tr>
            </thead>
            <tbody>
              {tokens.data.map((x) => (
                <tr key={x.id}>
                  <td>{x.name}</td>
                  <td className="faint">{scope(t, x)}</td>
                  <td className="num">
                    <Moment at={x.created_at} />
                  </td>
                  <td className="num">
                    <Moment at={x.expires_at} />
                  </td>
                  <td className="end">
                    <Button
                      variant="default"
                      aria-label={t("account.tokens.revokeTitle", { name: x.name })}
                      onClick={() => set({ revoke: x.id })}
                    >
                      {t("account.tokens.revoke")}
                    </Button>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {user === undefined && <TokenDialog opened={search.new === "1"} onClose={() => set({ new: undefined }, true)} />}
      <Revoke user={user} token={gone} onClose={() => set({ revoke: undefined }, true)} />
    </>
  );
}

function Revoke({ user, token, onClose }: { user: string | undefined; token: Token | undefined; onClose: () => void }) {
  const { t } = useSay();
  const client = useQueryClient();
  const revoke = useMutation({
    mutationFn: (id: string) => revokeToken(id, user),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: tokensQuery.queryKey });
      onClose();
    },
  });
  return (
    <Modal opened={token !== undefined} onClose={onClose} title={t("account.tokens.revokeTitle", { name: token?.name ?? "" })}>
      <div className="stack">
        <p>{t("account.tokens.revokeAsk")}</p>
        <FormError error={revoke.error} />
        <div className="dialog-end">
          <Button variant="default" onClick={onClose} data-autofocus>
            {t("common.cancel")}
          </Button>
          <Button loading={revoke.isPending} onClick={() => token && revoke.mutate(token.id)}>
            {t("account.tokens.revoke")}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
