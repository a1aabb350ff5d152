import { beforeEach, describe, expect, it } from "vitest";
import { LiveStream, type Message, type Source } from "./stream";

class FakeSource implements Source {
  readyState = 1;
  closedByUs = false;
  private readonly listeners = new Map<string, (event: MessageEvent<string>) => void>();
  constructor(readonly url: string) {}
  close() {
    this.closedByUs = true;
    this.readyState = 2;
  }
  addEventListener(kind: string, listen: (event: MessageEvent<string>) => void) {
    this.listeners.set(kind, listen);
  }
  say(kind: string, data: unknown, lastEventId = "") {
    // Only these two fields are read of the event.
    this.listeners.get(kind)?.({ data: JSON.stringify(data), lastEventId } as MessageEvent<string>);
  }
}

class World {
  at = 1_000_000;
  isHidden = false;
  sources: FakeSource[] = [];
  timers: { due: number; run: () => void }[] = [];
  open = (url: string) => {
    const source = new FakeSource(url);
    this.sources.push(source);
    return source;
  };
  now = () => this.at;
  hidden = () => this.isHidden;
  after = (ms: number, run: () => void) => {
    const timer = { due: this.at + ms, run };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((t) => t !== timer);
    };
  };
  pass(ms: number) {
    this.at += ms;
    const due = this.timers.filter((t) => t.due <= this.at);
    this.timers = this.timers.filter((t) => t.due > this.at);
    for (const t of due) t.run();
  }
  last() {
    const source = this.sources.at(-1);
    if (!source) throw new Error("nothing was opened");
    return source;
  }
}

describe("the live stream", () => {
  let world: World;
  let live: LiveStream;
  let got: Message[];
  const listen = (m: Message) => got.push(m);

  beforeEach(() => {
    world = new World();
    live = new LiveStream("http://x/api/v1", world);
    got = [];
  });

  it("opens one connection for all topics", () => {
    live.subscribe("instances", listen);
    live.subscribe("instance:7", listen);
    world.pass(20);
    expect(world.sources).toHaveLength(1);
    expect(decodeURIComponent(world.last().url)).toBe("http://x/api/v1/stream?topics=instance:7,instances");
  });

  it("passes a message to its topic only, and is live then", () => {
    live.subscribe("instances", listen);
    world.pass(20);
    expect(live.getStatus()).toBe("connecting");
    world.last().say("changed", { topic: "instances" });
    world.last().say("event", { topic: "instance:9" });
    expect(got.map((m) => m.kind)).toEqual(["changed"]);
    expect(live.getStatus()).toBe("live");
  });

  it("resumes an instance after the last event that it has got", () => {
    live.subscribe("instance:7", listen);
    world.pass(20);
    world.last().say("event", { topic: "instance:7" }, "7:41");
    live.subscribe("instances", listen);
    world.pass(20);
    expect(decodeURIComponent(world.last().url)).toContain("instance:7:41,instances");
    expect(world.sources[0]?.closedByUs).toBe(true);
  });

  it("is stale after 20 s without a word, and live again with the next", () => {
    live.subscribe("instances", listen);
    world.pass(20);
    world.last().say("alive", {});
    world.at += 19_999;
    live.tick();
    expect(live.getStatus()).toBe("live");
    world.at += 1;
    live.tick();
    expect(live.getStatus()).toBe("stale");
    world.pass(3000);
    expect(world.sources).toHaveLength(2);
    world.last().say("alive", {});
    expect(live.getStatus()).toBe("live");
  });

  it("opens again when the server refused it", () => {
    live.subscribe("instances", listen);
    world.pass(20);
    world.last().readyState = 2;
    live.tick();
    world.pass(3000);
    expect(world.sources).toHaveLength(2);
  });

  it("closes 30 s after the tab was put away and comes back with it", () => {
    live.subscribe("instances", listen);
    world.pass(20);
    world.isHidden = true;
    live.visibilityChanged();
    world.pass(29_999);
    expect(world.last().closedByUs).toBe(false);
    world.pass(1);
    expect(world.last().closedByUs).toBe(true);
    live.tick();
    world.pass(5000);
    expect(world.sources).toHaveLength(1);
    world.isHidden = false;
    live.visibilityChanged();
    expect(world.sources).toHaveLength(2);
  });

  it("does not listen to a connection that it has left", () => {
    live.subscribe("instances", listen);
    world.pass(20);
    const old = world.last();
    live.subscribe("instance:7", listen);
    world.pass(20);
    old.say("changed", { topic: "instances" });
    expect(got).toHaveLength(0);
  });
});
