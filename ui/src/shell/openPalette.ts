import { createSpotlight } from "@mantine/spotlight";

export const [paletteStore, palette] = createSpotlight();

let take: ((key: string) => void) | undefined;
let early = "";

/** takeKeys says who takes what is typed before the palette's field has the focus, also before there was anybody to take it. */
export function takeKeys(by: ((key: string) => void) | undefined): void {
  take = by;
  if (early) by?.(early);
  early = "";
}

/** patience is how long keys are kept for a field that is still to come, in milliseconds. */
const patience = 2000;

/** openPalette opens the palette. Who knows it types on at once: nothing of that is lost, and none of it is another key's doing. */
export function openPalette(): void {
  palette.open();
  const typed = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return end();
    if (event.key.length !== 1 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    if (take) take(event.key);
    else early += event.key;
  };
  const focused = (event: FocusEvent) => {
    if (event.target instanceof HTMLInputElement) end();
  };
  const late = setTimeout(end, patience);
  function end() {
    clearTimeout(late);
    document.removeEventListener("keydown", typed, true);
    document.removeEventListener("focusin", focused);
  }
  document.addEventListener("keydown", typed, true);
  document.addEventListener("focusin", focused);
}
