import { Button, type ButtonProps, Tooltip } from "@mantine/core";
import type { MouseEventHandler } from "react";
import "./guarded.css";

interface Props extends ButtonProps {
  why: string | undefined; // why it may not be pressed
  onClick?: MouseEventHandler<HTMLButtonElement>;
  type?: "button" | "submit";
}

const held = {
  type: "button",
  className: "guarded",
  "data-disabled": true,
  "aria-disabled": true,
  onClick: (event: { preventDefault: () => void }) => event.preventDefault(),
} as const;

/**
 * Guarded is a button that can be reached and read, but not pressed, while there is a reason:
 * who may not do a thing learns who can grant it, by mouse, keyboard and screen reader.
 */
export function Guarded({ why, onClick, children, ...rest }: Props) {
  const guard = why === undefined ? { onClick } : held;
  // The same button in both cases: the focus stays on it when the reason comes or goes.
  return (
    <Tooltip label={why ?? ""} disabled={why === undefined} multiline maw={300} events={{ hover: true, focus: true, touch: true }}>
      <Button {...rest} {...guard}>
        {children}
        {why !== undefined && <span className="unseen">{why}</span>}
      </Button>
    </Tooltip>
  );
}
