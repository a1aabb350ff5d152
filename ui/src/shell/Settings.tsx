import { ActionIcon, Popover, UnstyledButton } from "@mantine/core";
import { useNavigate, useRouterState } from "@tanstack/react-router";
import { Settings as Gear } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import type { Me } from "../api/client";
import { signOut } from "../api/commands";
import { useSay } from "../i18n";
import { Preferences } from "./Preferences";

/**
 * SettingsMenu is the person's corner of the console. It is a dialog and no menu: a menu may have
 * nothing but items in it, and these are switches and lists too. The tab key walks through all. children are the ways
 * that a small window has no other place for.
 */
export function SettingsMenu({ me, onKeys, children }: { me: Me; onKeys: () => void; children: ReactNode }) {
  const { t } = useSay();
  const go = useNavigate();
  const [opened, setOpened] = useState(false);
  const path = useRouterState({ select: (s) => s.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes it, and nothing else does
  useEffect(() => setOpened(false), [path]);
  const leave = async () => {
    await signOut().catch(() => undefined); // a session that is gone is signed out too
    // The next person must not see what this one has read.
    location.reload();
  };
  const close = (then: () => void) => () => {
    setOpened(false);
    then();
  };
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      width={300}
      shadow="md"
      transitionProps={{ duration: 120 }}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon aria-label={t("top.settings")} onClick={() => setOpened(!opened)}>
          <Gear size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown className="settings">
        {children}
        <p className="settings-who">{t("top.user", { name: me.name })}</p>
        <UnstyledButton className="settings-item" onClick={close(() => void go({ to: "/profile" }))}>
          {t("account.profile.menu")}
        </UnstyledButton>
        <hr />
        <Preferences />
        <hr />
        <UnstyledButton className="settings-item" onClick={close(onKeys)}>
          {t("top.shortcuts")}
        </UnstyledButton>
        <a
          className="settings-item"
          href={new URL("docs", document.baseURI).href}
          target="_blank"
          rel="noreferrer"
          onClick={close(() => undefined)}
        >
          {t("top.docs")}
        </a>
        <UnstyledButton className="settings-item" onClick={close(() => void leave())}>
          {t("top.signOut")}
        </UnstyledButton>
      </Popover.Dropdown>
    </Popover>
  );
}
