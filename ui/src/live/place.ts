import type { Source } from "./stream";

// A browser gives one server six connections over HTTP/1.1, for all its tabs together: the
// seventh stream would keep every further request waiting, without an error. So the tabs
// share a few places; who finds none asks every 5 s instead, and tries again later.

/** maxStreams leaves two of the six connections to requests. */
const maxStreams = 4;
const closed = 2;

type Listen = (event: MessageEvent<string>) => void;

/** Places hands out the right to hold a stream; leave gives it back. A tab that goes loses it by itself. */
export interface Places {
  take(leave: Promise<void>): Promise<boolean>;
  crowded(): boolean;
}

/** locksOf makes places of the browser's locks; where it has none (no secure context), there is no limit. */
export function locksOf(browser: { locks?: LockManager }): Places {
  const locks = browser.locks;
  let full = false;
  const one = (name: string, leave: Promise<void>) =>
    new Promise<boolean>((told) => {
      locks
        ?.request(name, { ifAvailable: true }, async (lock) => {
          told(lock !== null);
          if (lock !== null) await leave;
        })
        .catch(() => told(false));
    });
  return {
    crowded: () => full,
    take: async (leave) => {
      if (locks === undefined) return true;
      for (let i = 0; i < maxStreams; i++) {
        if (await one(`porpoise-stream-${i}`, leave)) {
          full = false;
          return true;
        }
      }
      full = true;
      return false;
    },
  };
}

/** PlacedSource is an EventSource that first takes a place; without one it is closed from the start. */
export class PlacedSource implements Source {
  private source: EventSource | undefined;
  private over = false;
  private refused = false;
  private leave: () => void = () => {};
  private readonly listeners: [string, Listen][] = [];

  constructor(url: string, places: Places) {
    const left = new Promise<void>((resolve) => {
      this.leave = resolve;
    });
    void places.take(left).then((got) => {
      if (!got) this.refused = true;
      if (!got || this.over) return;
      this.source = new EventSource(url, { withCredentials: true });
      for (const [kind, listen] of this.listeners) this.source.addEventListener(kind, listen);
    });
  }

  get readyState(): number {
    return this.over || this.refused ? closed : (this.source?.readyState ?? 0);
  }

  close(): void {
    this.over = true;
    this.source?.close();
    this.leave();
  }

  addEventListener(kind: string, listen: Listen): void {
    this.listeners.push([kind, listen]);
    this.source?.addEventListener(kind, listen);
  }
}
