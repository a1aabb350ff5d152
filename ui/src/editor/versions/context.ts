import { createContext, useContext } from "react";
import { useStore } from "zustand";
import { useDoc } from "../context";
import type { Saving, SavingState } from "./saving";

/** SavingContext carries what saves the page's document. */
export const SavingContext = createContext<Saving | undefined>(undefined);

/** useSaving gives the saving, to send wishes to. */
export function useSaving(): Saving {
  const saving = useContext(SavingContext);
  if (!saving) throw new Error("there is no saving around this part");
  return saving;
}

/** useSaved draws again when what is picked has changed. */
export function useSaved<T>(pick: (state: SavingState) => T): T {
  return useStore(useSaving().store, pick);
}

/** useWorthVersion tells whether there is something to save as a version, and draws again when that changes. */
export function useWorthVersion(): boolean {
  const saving = useSaving();
  const known = useSaved(() => saving.worthVersion());
  return useDoc(() => saving.worthVersion()) || known;
}

/** useDirty tells whether there is unsaved work, and draws again when that changes. */
export function useDirty(): boolean {
  const saving = useSaving();
  useSaved((s) => s.text);
  useSaved((s) => s.places);
  return useDoc(() => saving.dirty());
}
