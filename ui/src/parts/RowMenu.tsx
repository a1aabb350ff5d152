import { ActionIcon, Menu } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import { GuardedItem } from "./GuardedItem";

export interface RowAction {
  label: string;
  run: () => void;
  why?: string; // why it may not be done
}

/** RowMenu holds what can be done with a row. */
export function RowMenu({ label, actions }: { label: string; actions: RowAction[] }) {
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((a) => (
          <GuardedItem key={a.label} why={a.why} onClick={a.run}>
            {a.label}
          </GuardedItem>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
