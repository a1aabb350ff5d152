import { Menu } from "@mantine/core";
import "./guarded.css";

interface Props {
  why: string | undefined; // why it may not be done
  onClick: () => void;
  children: React.ReactNode;
}

/** GuardedItem is a line of a menu. What may not be done stays there, with its reason. */
export function GuardedItem({ why, onClick, children }: Props) {
  if (why === undefined) return <Menu.Item onClick={onClick}>{children}</Menu.Item>;
  return (
    <Menu.Item aria-disabled="true" className="guarded" closeMenuOnClick={false}>
      {children}
      <span className="why">{why}</span>
    </Menu.Item>
  );
}
