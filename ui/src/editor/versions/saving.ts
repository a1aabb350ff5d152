// What of the document is on the server, and how it gets there: the draft, which takes any text,
// and versions, which take what is right. Nothing overwrites what another has saved meanwhile.

import { createStore, type StoreApi } from "zustand/vanilla";
import type { dropDraft, saveDraft, saveLayout, saveVersion } from "../../api/definitions";
import { ApiError } from "../../api/error";
import { differ } from "../../domain/document/text";
import type { Places } from "../../domain/history/history";
import type { Document } from "../document";
import type { Origin } from "../origin";

/** Draft is the draft that the server has. */
export interface Draft {
  readonly revision: number;
  readonly at: string;
  readonly by: string;
}

/** Foreign is what another has saved since this editor read it. */
export interface Foreign {
  readonly kind: "version" | "draft";
  readonly version: number;
  readonly text: string;
  readonly by: string;
  readonly at: string;
  readonly revision: number | undefined;
}

/** News is what the server says of the workflow as it is now. */
export interface News {
  readonly latest: number;
  readonly draft: number;
  readonly by: string;
  readonly at: string;
}

/** Phase is what is under way. */
export type Phase =
  | { readonly kind: "still" }
  | { readonly kind: "saving" }
  | { readonly kind: "failed"; readonly error: unknown; readonly wish: Wish }
  | { readonly kind: "conflict"; readonly foreign: Foreign; readonly wish: Wish };

/** Wish is what a person wants saved. */
export type Wish = { readonly as: "draft" } | { readonly as: "version"; readonly publish: boolean; readonly message: string };

/** SavingState is where the document stands against the server. */
export interface SavingState {
  /** version is the one that the text was made from; 0 is none yet. */
  readonly version: number;
  readonly published: number;
  /** base is that version's text: the common ground of a merge. */
  readonly base: string;
  readonly draft: Draft | undefined;
  /** text and places are what was saved last, or opened: another text is unsaved. */
  readonly text: string;
  readonly places: Places;
  readonly phase: Phase;
  readonly news: News | undefined;
}

/** Server is what is asked of the API; newest reads what another has saved. */
export interface Server {
  readonly saveVersion: typeof saveVersion;
  readonly saveDraft: typeof saveDraft;
  readonly dropDraft: typeof dropDraft;
  readonly saveLayout: typeof saveLayout;
  readonly newest: (of: { project: string; workflow: string }, kind: Foreign["kind"]) => Promise<Foreign>;
}

/** Saving saves one document. Wishes while one is under way are refused: the button says so. */
export class Saving {
  readonly store: StoreApi<SavingState>;

  constructor(
    private readonly origin: Origin,
    private readonly doc: Document,
    private readonly server: Server,
  ) {
    const { version, published, base, draft } = origin;
    // A new workflow's first lines are nobody's work yet.
    this.store = createStore<SavingState>(() => ({
      ...{ version, published, base, draft, text: doc.state.history.text, places: origin.places },
      phase: { kind: "still" },
      news: undefined,
    }));
  }

  get state(): SavingState {
    return this.store.getState();
  }

  /** dirty tells whether the document has something that the server has not. */
  dirty(): boolean {
    const { text, places } = this.doc.state.history;
    return text !== this.state.text || !samePlaces(places, this.state.places);
  }

  /** worthVersion tells whether a version of the document would be another than the newest one. */
  worthVersion(): boolean {
    return this.state.version === 0 || this.state.draft !== undefined || this.dirty();
  }

  /** save does a wish, and answers the version it has made, 0 for a draft, or undefined where it was not done. */
  async save(wish: Wish): Promise<number | undefined> {
    if (this.state.phase.kind === "saving") return undefined;
    this.doc.seal();
    this.store.setState({ phase: { kind: "saving" } });
    try {
      const made = wish.as === "draft" ? await this.asDraft() : await this.asVersion(wish);
      this.store.setState({ phase: { kind: "still" } });
      return made;
    } catch (error) {
      this.store.setState({ phase: await this.failed(wish, error) });
      return undefined;
    }
  }

  /** drop throws the draft away and goes back to the newest version's text, as one step that can be undone. */
  async drop(): Promise<void> {
    const { draft, base } = this.state;
    if (!draft) return;
    this.store.setState({ phase: { kind: "saving" } });
    try {
      await this.server.dropDraft({ ...this.origin, match: draft.revision });
      this.doc.change("drop draft", differ(this.doc.state.history.text, base));
      this.store.setState({ draft: undefined, text: base, phase: { kind: "still" } });
    } catch (error) {
      this.store.setState({ phase: await this.failed({ as: "draft" }, error) });
    }
  }

  /** merged goes on after a merge: text is made from the foreign one and becomes the document's, as one step. */
  merged(text: string): void {
    const { phase } = this.state;
    if (phase.kind !== "conflict") return;
    const { foreign } = phase;
    this.doc.change("merge", differ(this.doc.state.history.text, text));
    const draft =
      foreign.kind === "draft" && foreign.revision ? { revision: foreign.revision, at: foreign.at, by: foreign.by } : this.state.draft;
    const base = foreign.kind === "version" ? { base: foreign.text, version: foreign.version } : {};
    this.store.setState({ ...base, draft, text: foreign.text, phase: { kind: "still" } });
  }

  /** heard takes what the server says of the workflow, as anybody's save makes it. */
  heard(news: News): void {
    this.store.setState({ news });
  }

  /** bringIn begins a merge with what another has saved, before a save of ours is refused for it. */
  async bringIn(kind: Foreign["kind"]): Promise<void> {
    if (this.state.phase.kind !== "still") return;
    this.doc.seal();
    this.store.setState({ phase: { kind: "saving" } });
    this.store.setState({ phase: await this.conflict({ as: "draft" }, kind) });
  }

  /** settle puts away what a save has left to read. */
  settle(): void {
    if (this.state.phase.kind !== "saving") this.store.setState({ phase: { kind: "still" } });
  }

  private async asDraft(): Promise<number> {
    const { text, places } = this.doc.state.history;
    const { draft, version } = this.state;
    const kept = await this.server.saveDraft({ ...this.of(text), base: version, match: draft?.revision });
    this.store.setState({ draft: { revision: kept.revision, at: kept.updated_at, by: kept.updated_by }, text });
    await this.keepPlaces(places);
    return 0;
  }

  private async asVersion({ publish, message }: Extract<Wish, { as: "version" }>): Promise<number> {
    const { text, places } = this.doc.state.history;
    const { draft, version } = this.state;
    const saved = await this.server.saveVersion({ ...this.of(text), match: version, publish, message, draft: draft?.revision });
    this.store.setState({ version: saved.latest, published: saved.published, base: text, text, draft: undefined });
    await this.keepPlaces(places);
    return saved.version;
  }

  private of(text: string) {
    const { project, workflow, format } = this.origin;
    // A JSON text may be rewritten as YAML by hand.
    return { project, workflow, text, format: format === "json" && text.trimStart().startsWith("{") ? format : "yaml" } as const;
  }

  // Places are worth less than the text: they are kept last, and only those of tasks that are there.
  private async keepPlaces(places: Places): Promise<void> {
    if (samePlaces(places, this.state.places)) return;
    const names = new Set(this.doc.current().model.tasks.map((t) => t.name));
    const known = Object.fromEntries(Object.entries(places).filter(([name]) => names.has(name)));
    await this.server.saveLayout(this.origin, known);
    this.store.setState({ places });
  }

  private async failed(wish: Wish, error: unknown): Promise<Phase> {
    const stale = error instanceof ApiError && (error.status === 412 || error.status === 428);
    return stale ? this.conflict(wish, wish.as) : { kind: "failed", error, wish };
  }

  private async conflict(wish: Wish, kind: Foreign["kind"]): Promise<Phase> {
    try {
      return { kind: "conflict", foreign: await this.server.newest(this.origin, kind), wish };
    } catch (other) {
      return { kind: "failed", error: other, wish };
    }
  }
}

/** foreignIn tells what of the news is another's and newer than what this editor has. */
export function foreignIn({ news, version, draft, phase }: SavingState): Foreign["kind"] | undefined {
  // A save of ours is told of as well, perhaps before its own answer.
  if (!news || phase.kind === "saving" || phase.kind === "conflict") return undefined;
  if (news.latest > version) return "version";
  return news.draft > (draft?.revision ?? 0) ? "draft" : undefined;
}

function samePlaces(a: Places, b: Places): boolean {
  if (a === b) return true;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((n) => a[n]?.x === b[n]?.x && a[n]?.y === b[n]?.y);
}
