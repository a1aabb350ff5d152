import { describe, expect, it } from "vitest";
import type { Found, Search } from "./api";
import { broken, Finder } from "./finder";

/** A server whose hits are on every tenth line. */
function server(total: number) {
  const asked: Search[] = [];
  const ask = async (s: Search): Promise<Found> => {
    asked.push(s);
    const all = Array.from({ length: total }, (_, i) => ({ offset: 0, line: 10 * (i + 1), number: i + 1, text: "", start: 0, length: 1 }));
    const from = s.line ?? (s.backward ? Number.MAX_SAFE_INTEGER : 1);
    const part = s.backward ? all.filter((h) => h.line < from).reverse() : all.filter((h) => h.line >= from);
    return { hits: part.slice(0, s.limit), total, whole: true, searched: 0 };
  };
  return { asked, finder: new Finder(ask) };
}

describe("the finder", () => {
  it("begins where the reader is, and goes round both ways", async () => {
    const { finder, asked } = server(3);
    await finder.wish({ text: "x" }, 15);
    expect(finder.current()?.line).toBe(20);
    await finder.next();
    expect(finder.current()?.line).toBe(30);
    await finder.next();
    expect(finder.current()?.number).toBe(1);
    await finder.previous();
    expect(finder.current()?.number).toBe(3);
    expect(finder.get().total).toBe(3);
    expect(asked[0]).toMatchObject({ q: "x", line: 15, count: true });
  });
  it("starts over where nothing follows", async () => {
    const { finder } = server(3);
    await finder.wish({ text: "x" }, 1000);
    expect(finder.current()?.number).toBe(1);
  });
  it("visits every one of thousands of hits, in order, both ways", async () => {
    const { finder, asked } = server(1700);
    await finder.wish({ text: "x" }, 1);
    for (let i = 1; i <= 1700; i++) {
      expect(finder.current()?.number).toBe(i);
      await finder.next();
    }
    expect(finder.current()?.number).toBe(1);
    for (let i = 1700; i >= 1; i--) {
      await finder.previous();
      expect(finder.current()?.number).toBe(i);
    }
    expect(asked.length).toBeLessThan(12);
  });
  it("says that there is none, and forgets the last search", async () => {
    const { finder } = server(0);
    await finder.wish({ text: "x" }, 1);
    expect(finder.get()).toMatchObject({ at: -1, total: 0, done: true, busy: false });
    await finder.next();
    await finder.wish({ text: "" }, 1);
    expect(finder.get().done).toBe(false);
  });
  it("keeps the newest wish where an older answer comes late", async () => {
    const late: (() => void)[] = [];
    const finder = new Finder(
      (s) =>
        new Promise((done) =>
          late.push(() =>
            done({
              hits: [{ offset: 0, line: s.q === "old" ? 1 : 2, number: 1, text: "", start: 0, length: 1 }],
              total: 1,
              whole: true,
              searched: 0,
            }),
          ),
        ),
    );
    const first = finder.wish({ text: "old" }, 1);
    const second = finder.wish({ text: "new" }, 1);
    late[1]?.();
    await second;
    late[0]?.();
    await first;
    expect(finder.current()?.line).toBe(2);
  });
  it("shows what the server refuses", async () => {
    const finder = new Finder(() => Promise.reject(new Error("q: no")));
    await finder.wish({ text: "x" }, 1);
    expect(finder.get()).toMatchObject({ error: new Error("q: no"), busy: false });
  });
});

describe("an expression in the making", () => {
  it("is not sent before it can be one", async () => {
    const { finder, asked } = server(1);
    await finder.wish({ text: "a(b", regex: true }, 1);
    expect(asked).toEqual([]);
    await finder.wish({ text: "a(b)" }, 1);
    expect(asked.length).toBe(1);
  });
  it("names what is missing, and leaves to the server what is its own", () => {
    const why = (text: string) => broken({ text, regex: true, case: false });
    expect(["a(b", "a)", "[a", "*a", "a\\"].map(why)).toEqual(["group", "group", "class", "repeat", "escape"]);
    for (const fine of ["(?i)a", "(?P<n>a)", "\\Aa\\z", "[[:alpha:]]", "a{2}", "\\pL"]) expect(why(fine), fine).toBeUndefined();
    expect(broken({ text: "(", regex: false, case: false })).toBeUndefined();
  });
});
