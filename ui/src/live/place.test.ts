import { describe, expect, it } from "vitest";
import { locksOf } from "./place";

/** A lock manager of one browser, as far as it is used: a name is held until its promise ends. */
function manager() {
  const held = new Set<string>();
  const request = async (name: string, _: LockOptions, run: (lock: Lock | null) => Promise<void>) => {
    if (held.has(name)) return run(null);
    held.add(name);
    await run({ name, mode: "exclusive" });
    held.delete(name);
  };
  return { request } as unknown as LockManager; // the rest is not asked for
}

describe("the places of a browser's tabs", () => {
  it("are four; who leaves makes room for the next", async () => {
    const locks = manager();
    const never = new Promise<void>(() => {});
    let leave = () => {};
    const left = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const tabs = Array.from({ length: 6 }, () => locksOf({ locks }));
    const got = [];
    for (const [i, tab] of tabs.entries()) got.push(await tab.take(i === 0 ? left : never));
    expect(got).toEqual([true, true, true, true, false, false]);
    expect(tabs.map((x) => x.crowded())).toEqual([false, false, false, false, true, true]);
    leave();
    await new Promise((resolve) => setTimeout(resolve));
    expect(await tabs[4]?.take(never)).toBe(true);
    expect(tabs[4]?.crowded()).toBe(false);
  });
  it("have no limit where the browser has no locks", async () => {
    expect(await locksOf({}).take(Promise.resolve())).toBe(true);
  });
});
