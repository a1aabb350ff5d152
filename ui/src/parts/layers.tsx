import { type DrawerProps, type ModalProps, Drawer as PlainDrawer, Modal as PlainModal } from "@mantine/core";
import { useEffect, useRef } from "react";
import { useSay } from "../i18n";

// Dialogs and drawers, of which Escape closes the one on top alone. The library's own each listen to the window by
// themselves: one key press closes all of them.

type Layer = { close: () => void; heeds: boolean };

const layers: Layer[] = [];

function press(event: KeyboardEvent): void {
  const top = layers.at(-1);
  if (!top?.heeds || event.key !== "Escape" || event.isComposing || event.defaultPrevented) return;
  const from = event.target instanceof Element ? event.target : undefined;
  // A list that hangs open from a field, and the palette over all, are layers of their own: that one also before it has the focus.
  if (from?.getAttribute("data-mantine-stop-propagation") === "true" || document.querySelector(".mantine-Spotlight-content")) return;
  // Whatever of the page hears the key later knows that it has done its work.
  event.preventDefault();
  top.close();
}

/** useLayer makes an open dialog the topmost layer, until it is closed. */
function useLayer(opened: boolean, close: () => void, heeds: boolean): void {
  const layer = useRef<Layer>({ close, heeds });
  Object.assign(layer.current, { close, heeds });
  useEffect(() => {
    if (!opened) return;
    const own = layer.current;
    if (layers.push(own) === 1) window.addEventListener("keydown", press, { capture: true });
    return () => {
      layers.splice(layers.indexOf(own), 1);
      if (layers.length === 0) window.removeEventListener("keydown", press, { capture: true });
    };
  }, [opened]);
}

/** Modal is the library's, and one of the layers; its button to close has a name. */
export function Modal({ closeOnEscape = true, ...props }: ModalProps) {
  const { t } = useSay();
  useLayer(props.opened, props.onClose, closeOnEscape);
  return <PlainModal closeButtonProps={{ "aria-label": t("common.close") }} {...props} closeOnEscape={false} />;
}

/** Drawer is the library's, and one of the layers; its button to close has a name. */
export function Drawer({ closeOnEscape = true, ...props }: DrawerProps) {
  const { t } = useSay();
  useLayer(props.opened, props.onClose, closeOnEscape);
  return <PlainDrawer closeButtonProps={{ "aria-label": t("common.close") }} {...props} closeOnEscape={false} />;
}
