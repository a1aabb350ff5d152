import { ActionIcon, Menu } from "@mantine/core";
import { Ellipsis } from "lucide-react";
import "./guarded.css";

export interface RowAction {
  label: string;
  run: () => void;
  why?: string; // why it may not be done
}

/** RowMenu holds what can be done with a row. What may not be done stays there, with its reason. */
export function RowMenu({ label, actions }: { label: string; actions: RowAction[] }) {
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <ActionIcon aria-label={label}>
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {actions.map((a) =>
          a.why === undefined ? (
            <Menu.Item key={a.label} onClick={a.run}>
              {a.label}
            </Menu.Item>
          ) : (
            <Menu.Item key={a.label} aria-disabled="true" className="guarded" closeMenuOnClick={false}>
              {a.label}
              <span className="why">{a.why}</span>
            </Menu.Item>
          ),
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
