import { useState } from "react";
import { SessionList } from "../account/SessionList";
import { TokenList } from "../account/TokenList";
import { useSay } from "../i18n";
import { Drawer } from "../parts/layers";
import type { ProfileSearch } from "../searchAccount";
import "@mantine/core/styles/Drawer.css";

/** Ways is how a user comes in: his sessions and his tokens, each of which an admin may end. */
export function Ways({ user, onClose }: { user: string | undefined; onClose: () => void }) {
  const { t } = useSay();
  const [search, set] = useState<ProfileSearch>({});
  return (
    <Drawer
      opened={user !== undefined}
      onClose={onClose}
      position="right"
      size="min(820px, 100%)"
      title={t("admin.ways.title", { name: user ?? "" })}
      classNames={{ title: "drawer-title" }}
    >
      {user !== undefined && (
        <div className="stack" data-ways={user}>
          <section>
            <h2>{t("account.profile.tabSessions")}</h2>
            <SessionList user={user} />
          </section>
          <section>
            <h2>{t("account.profile.tabTokens")}</h2>
            <TokenList user={user} search={search} set={(part) => set((s) => ({ ...s, ...part }))} />
          </section>
        </div>
      )}
    </Drawer>
  );
}
