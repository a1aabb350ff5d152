import { Menu } from "@mantine/core";
import { useSay } from "../../i18n";
import type { Acts } from "./acts";
import { readClipboard, writeClipboard } from "./clipboard";
import type { Layer } from "./ui";

interface Props {
  layer: Extract<Layer, { kind: "menu" }>;
  at: { x: number; y: number };
  acts: Acts;
  locked: boolean;
  onOpenForm: () => void;
  onFit: () => void;
}

// The menu was asked for: its first row has the focus as soon as it is there.
function first(dropdown: HTMLDivElement | null): void {
  requestAnimationFrame(() => dropdown?.querySelector<HTMLElement>("[role=menuitem]:not([data-disabled])")?.focus({ preventScroll: true }));
}

/** CanvasMenu has what can be done where it was opened: the same commands as the keys, which it teaches. */
export function CanvasMenu({ layer, at, acts, locked, onOpenForm, onFit }: Props) {
  const { t } = useSay();
  const { on, screen } = layer;
  const item = (words: string, keys: string, run: () => void, disabled = locked) => (
    <Menu.Item key={words} disabled={disabled} onClick={run} rightSection={<span className="menu-keys">{keys}</span>}>
      {words}
    </Menu.Item>
  );
  return (
    <Menu opened onClose={() => acts.close()} position="bottom-start" offset={0} withinPortal={false} withInitialFocusPlaceholder={false}>
      <Menu.Target>
        <button type="button" tabIndex={-1} className="menu-anchor" aria-label={t("canvas.menu")} style={{ left: at.x, top: at.y }} />
      </Menu.Target>
      <Menu.Dropdown ref={first}>
        {on.kind === "task" && [
          item(t("canvas.menuOpen"), "Enter", onOpenForm, false),
          item(t("canvas.menuAddAfter"), "A", () => acts.pickAfter()),
          item(t("canvas.menuConnect"), "C", () => acts.pickTarget(on.task)),
          item(t("canvas.menuEdges"), "E", () => acts.listEdges(on.task), false),
          <Menu.Divider key="1" />,
          item(t("canvas.menuCut"), "Ctrl X", () => void writeClipboard(acts.copy()).then((ok) => ok && acts.remove())),
          item(t("canvas.menuCopy"), "Ctrl C", () => void writeClipboard(acts.copy()), false),
          item(t("canvas.menuDuplicate"), "Ctrl D", () => acts.duplicate()),
          <Menu.Divider key="2" />,
          item(t("canvas.menuRemove"), "Del", () => acts.remove()),
        ]}
        {on.kind === "edge" && [
          item(t("canvas.menuInsert"), "", () => acts.open({ kind: "types", screen, added: { edge: on.edge } })),
          acts.branches(on.edge.from) && item(t("canvas.menuBranch"), "", () => acts.askBranch(on.edge)),
          item(t("canvas.menuRemoveEdge"), "Del", () => acts.disconnect([on.edge])),
        ]}
        {on.kind === "ground" && [
          item(t("canvas.menuAdd"), "A", () => acts.open({ kind: "types", screen, added: { after: [], at: on.at } })),
          item(
            t("canvas.menuPaste"),
            "Ctrl V",
            () => void readClipboard().then((text) => (text === undefined ? acts.say(t("canvas.pasteByKey")) : acts.paste(text))),
          ),
          item(t("canvas.menuAll"), "Ctrl A", () => acts.selectAll(), false),
          <Menu.Divider key="1" />,
          item(t("canvas.arrange"), "", () => void acts.arrange()),
          item(t("run.fit"), "F", onFit, false),
        ]}
      </Menu.Dropdown>
    </Menu>
  );
}
