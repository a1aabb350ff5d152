import { createContext, useContext } from "react";
import { useStore } from "zustand";
import type { Document, DocumentState } from "./document";

/** DocumentContext carries the page's one document. */
export const DocumentContext = createContext<Document | undefined>(undefined);

/** useDocument gives the document, to send commands to. */
export function useDocument(): Document {
  const doc = useContext(DocumentContext);
  if (!doc) throw new Error("there is no document around this part");
  return doc;
}

/** useDoc draws again when what is picked has changed. pick must give the same thing for the same state. */
export function useDoc<T>(pick: (state: DocumentState) => T): T {
  return useStore(useDocument().store, pick);
}
