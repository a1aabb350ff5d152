// What the canvas shows above the document: which small window is open, what is being linked, what was said.

import { createStore, type StoreApi } from "zustand/vanilla";
import type { Point } from "../../domain/graph/layout";
import type { Illegal } from "../../domain/graph/model";
import type { Edge } from "../commands";

/** Added says where a task that is picked will stand, and what it will need. */
export type Added = { readonly after: readonly string[]; readonly at?: Point } | { readonly edge: Edge };

/** Target is what a menu was opened on. */
export type Target =
  | { readonly kind: "task"; readonly task: string }
  | { readonly kind: "edge"; readonly edge: Edge }
  | { readonly kind: "ground"; readonly at: Point };

/** Layer is the one small window that is open; screen is where, in the window's pixels. */
export type Layer =
  | { readonly kind: "types"; readonly screen: Point; readonly added: Added }
  | { readonly kind: "connect"; readonly screen: Point; readonly from: string }
  | { readonly kind: "edges"; readonly screen: Point; readonly of: string }
  | { readonly kind: "branch"; readonly screen: Point; readonly edge: Edge }
  | { readonly kind: "menu"; readonly screen: Point; readonly on: Target }
  | { readonly kind: "find" };

/** CanvasState is read by the canvas's parts. */
export interface CanvasState {
  readonly layer: Layer | undefined;
  /** Why tasks cannot be the end of the edge that is being drawn. */
  readonly illegal: ReadonlyMap<string, Illegal> | undefined;
  /** The edge that a drop would go on. */
  readonly over: string | undefined;
  readonly edges: readonly string[];
  /** The moment before the view goes so far out that the far view draws all: no node is drawn any more. */
  readonly leaving: boolean;
  readonly said: string;
}

/** CanvasStore holds it, for one canvas. */
export type CanvasStore = StoreApi<CanvasState>;

/** newCanvas begins with nothing open. */
export function newCanvas(): CanvasStore {
  return createStore<CanvasState>(() => ({ layer: undefined, illegal: undefined, over: undefined, edges: [], leaving: false, said: "" }));
}
