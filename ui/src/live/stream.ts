// The one server-sent stream of a tab. It knows topics, resumes where it was, says how
// old its word is, and closes while nobody looks. What a message means is told to it by
// whoever subscribes.

export type LiveStatus = "connecting" | "live" | "stale";

export interface Message {
  kind: "snapshot" | "event" | "changed" | "lagged" | "workflow" | "pulse";
  topic: string;
  data?: unknown;
}

type Listener = (message: Message) => void;

/** EventSource as far as the stream uses it; tests give their own. */
export interface Source {
  readyState: number;
  close(): void;
  addEventListener(kind: string, listen: (event: MessageEvent<string>) => void): void;
}

export interface Surroundings {
  open(url: string): Source;
  now(): number;
  after(ms: number, run: () => void): () => void;
  hidden(): boolean;
}

/** The server beats every 15 s; one beat may be late by a third. */
const staleAfter = 20_000;
const hiddenFor = 30_000;
const retryEvery = 3_000;
const kinds = ["snapshot", "event", "changed", "lagged", "workflow", "pulse"] as const;
const closed = 2;

export class LiveStream {
  private readonly listeners = new Map<string, Set<Listener>>();
  private readonly seen = new Map<string, string>(); // instance id -> seq
  private readonly watchers = new Set<() => void>();
  private source: Source | undefined;
  private open = "";
  private lastAt = 0;
  private startedAt = 0;
  private reopening: (() => void) | undefined;
  private closing: (() => void) | undefined;
  private status: LiveStatus = "connecting";

  constructor(
    private readonly base: string,
    private readonly world: Surroundings,
  ) {}

  /** subscribe listens to a topic until the returned function is called. */
  subscribe(topic: string, listen: Listener): () => void {
    const set = this.listeners.get(topic) ?? new Set<Listener>();
    set.add(listen);
    this.listeners.set(topic, set);
    this.reopenSoon(20);
    return () => {
      set.delete(listen);
      if (set.size === 0 && this.listeners.get(topic) === set) this.listeners.delete(topic);
      this.reopenSoon(20);
    };
  }

  /** watch is called whenever the status changes. */
  watch = (changed: () => void): (() => void) => {
    this.watchers.add(changed);
    return () => this.watchers.delete(changed);
  };

  getStatus = (): LiveStatus => this.status;

  /** heardAt is when the server was last heard, 0 before the first word. */
  heardAt = (): number => this.lastAt;

  /** tick is called every second: it finds out that the server has gone quiet. */
  tick(): void {
    const quiet = this.world.now() - Math.max(this.lastAt, this.startedAt);
    if (this.listeners.size > 0 && quiet >= staleAfter) this.become("stale");
    if (this.source === undefined || this.source.readyState === closed || quiet >= staleAfter) {
      if (this.listeners.size > 0 && !this.world.hidden()) this.reopenSoon(retryEvery, true);
    }
  }

  /** seenOrHidden is called when the tab is shown or put away. */
  visibilityChanged(): void {
    this.closing?.();
    this.closing = undefined;
    if (this.world.hidden()) {
      this.closing = this.world.after(hiddenFor, () => this.close());
    } else if (this.source === undefined) {
      this.connect(true);
    }
  }

  close(): void {
    this.source?.close();
    this.source = undefined;
    this.open = "";
  }

  private become(status: LiveStatus): void {
    if (this.status === status) return;
    this.status = status;
    for (const changed of this.watchers) changed();
  }

  private reopenSoon(ms: number, anew = false): void {
    if (this.reopening) return;
    this.reopening = this.world.after(ms, () => {
      this.reopening = undefined;
      this.connect(anew);
    });
  }

  private connect(anew: boolean): void {
    const names = [...this.listeners.keys()].sort();
    const wanted = names.join(",");
    if (wanted === this.open && !anew && this.source) return;
    this.close();
    if (names.length === 0) return;
    const topics = names.map((name) => {
      const seq = this.seen.get(name.replace(/^instance:/, ""));
      return name.startsWith("instance:") && seq ? `${name}:${seq}` : name;
    });
    this.open = wanted;
    this.startedAt = this.world.now();
    const source = this.world.open(`${this.base}/stream?topics=${encodeURIComponent(topics.join(","))}`);
    this.source = source;
    for (const kind of kinds) source.addEventListener(kind, (event) => this.heard(source, kind, event));
    source.addEventListener("alive", () => this.beat(source));
  }

  private beat(source: Source): void {
    if (source !== this.source) return;
    this.lastAt = this.world.now();
    this.become("live");
  }

  private heard(source: Source, kind: Message["kind"], event: MessageEvent<string>): void {
    if (source !== this.source) return;
    this.beat(source);
    for (const part of (event.lastEventId ?? "").split(",")) {
      const [id, seq] = part.split(":");
      if (id && seq) this.seen.set(id, seq);
    }
    const body: unknown = JSON.parse(event.data);
    if (typeof body !== "object" || body === null || !("topic" in body) || typeof body.topic !== "string") return;
    const message: Message = { kind, topic: body.topic, data: "data" in body ? body.data : undefined };
    for (const listen of this.listeners.get(message.topic) ?? []) listen(message);
  }
}
