// A copy of unsaved work in this browser, so that a crash of the tab, or of the machine, loses
// two seconds of it at most.

import { createStore, del, entries, set, type UseStore } from "idb-keyval";
import type { Places } from "../../domain/history/history";

/** Copy is unsaved work as it was kept. */
export interface Copy {
  readonly text: string;
  readonly places: Places;
  readonly version: number;
  readonly at: number;
}

/** every is how often a changed document is kept, in milliseconds. */
export const every = 2000;

/** oldest is how long a copy is offered, in milliseconds: a month. */
const oldest = 30 * 24 * 3600 * 1000;

/**
 * Keeper keeps the copies of one workflow that is opened once: a tab that is loaded again finds its
 * own work as another's, and can't write over it. Without storage (a private window) it keeps nothing.
 */
export class Keeper {
  private readonly store: UseStore | undefined;
  private readonly own: string;
  private readonly prefix: string;
  private readonly channel: BroadcastChannel | undefined;

  constructor(of: { user: string; project: string; workflow: string }) {
    this.prefix = `${JSON.stringify([of.user, of.project, of.workflow])} `;
    this.own = `${this.prefix}${Date.now()}-${Math.random().toString(36).slice(2)}`;
    this.store = typeof indexedDB === "undefined" ? undefined : createStore("porpoise-editor", "unsaved");
    this.channel = typeof BroadcastChannel === "undefined" ? undefined : new BroadcastChannel("porpoise-editor");
    // A tab that is alive keeps its own work: others must not offer it.
    this.channel?.addEventListener("message", ({ data }) => {
      if (data === this.prefix) this.channel?.postMessage({ alive: this.own });
    });
  }

  /** keep writes the copy, over the one before. */
  async keep(copy: Copy): Promise<void> {
    if (this.store) await set(this.own, copy, this.store);
  }

  /** forget takes our copy away: all is saved. */
  async forget(): Promise<void> {
    if (this.store) await del(this.own, this.store);
  }

  /** drop takes a found copy away. */
  async drop(key: string): Promise<void> {
    if (this.store) await del(key, this.store);
  }

  /** find gives the newest copy that a tab which is gone has left. */
  async find(now: number): Promise<{ key: string; copy: Copy } | undefined> {
    if (!this.store) return undefined;
    const alive = await this.others();
    const all = await entries<string, Copy>(this.store);
    const found = all.filter(([key]) => key.startsWith(this.prefix) && !alive.has(key));
    for (const [key, copy] of found) if (now - copy.at > oldest) await this.drop(key);
    const newest = found.filter(([, copy]) => now - copy.at <= oldest).sort(([, a], [, b]) => b.at - a.at)[0];
    return newest && { key: newest[0], copy: newest[1] };
  }

  close(): void {
    this.channel?.close();
  }

  // A living tab answers within its next turn; 150 ms are many.
  private others(): Promise<ReadonlySet<string>> {
    const { channel } = this;
    const alive = new Set<string>();
    if (!channel) return Promise.resolve(alive);
    return new Promise((resolve) => {
      const hear = ({ data }: MessageEvent<unknown>) => {
        if (typeof data === "object" && data !== null && "alive" in data && typeof data.alive === "string") alive.add(data.alive);
      };
      channel.addEventListener("message", hear);
      channel.postMessage(this.prefix);
      setTimeout(() => {
        channel.removeEventListener("message", hear);
        resolve(alive);
      }, 150);
    });
  }
}
