import { describe, expect, it } from "vitest";
import type { Instance } from "../../api/client";
import type { BulkResult } from "../../api/instances";
import { bars, brushed } from "./bars";
import { runBulk, type Target, tally } from "./bulk";
import { isChosen, nothing, range, toggle } from "./choice";
import { absolute, asCLI, asCurl, filterOf, narrows, windowOf } from "./filter";
import { asCSV } from "./table";

const now = Date.parse("2026-11-21T12:00:30.500Z");

describe("the filter", () => {
  it("shows the last 24 hours, to the minute, unless it says otherwise", () => {
    expect(windowOf({}, now)).toEqual({ from: "2026-11-20T12:00:00.000Z" });
    expect(windowOf({ span: "any" }, now)).toEqual({});
    expect(windowOf({ span: "1h", from: "2026-01-01T00:00:00Z" }, now)).toEqual({ from: "2026-01-01T00:00:00Z", to: undefined });
  });
  it("gives no workflow without its project", () => {
    expect(filterOf({ workflow: "w", v: "3" }, now)).toMatchObject({ workflow: undefined, version: 3 });
    expect(narrows({ st: "failed" })).toBe(false);
    expect(narrows({ param: "day=7" })).toBe(true);
    expect(narrows({ worker: "w1" })).toBe(true);
    expect(filterOf({ worker: "w1" }, now).worker).toBe("w1");
  });
  it("makes a link whose times stand still", () => {
    expect(absolute({ st: "failed", span: "1h" }, now)).toEqual({
      st: "failed",
      from: "2026-11-21T11:00:00.000Z",
      to: "2026-11-21T12:00:30.500Z",
    });
  });
  it("is a command and a request that a shell takes", () => {
    const filter = { project: "it's", state: "failed,stopped", param: "a b" };
    expect(asCLI(filter)).toBe(`porpoise instances --project 'it'\\''s' --state failed,stopped`);
    expect(asCurl(filter, "http://h/api/v1")).toBe(
      `curl -H "Authorization: Bearer $PORPOISE_TOKEN" 'http://h/api/v1/instances?project=it%27s&state=failed%2Cstopped&param=a+b'`,
    );
  });
});

describe("choosing", () => {
  it("takes one row, a range from it, and lets one go", () => {
    const order = ["a", "b", "c", "d"];
    const some = range(toggle(nothing, "b"), "d", order);
    expect([...some.ids]).toEqual(["b", "c", "d"]);
    expect([...range(some, "a", order).ids].sort()).toEqual(order);
    expect([...toggle(some, "c").ids]).toEqual(["b", "d"]);
    expect(isChosen({ ...nothing, all: true }, "z")).toBe(true);
    expect(isChosen(toggle({ ...nothing, all: true }, "z"), "a")).toBe(false);
  });
});

describe("asking many", () => {
  const targets: Target[] = Array.from({ length: 120 }, (_, i) => ({ id: String(i), round: 1 }));
  const asked = (batch: Target[]): BulkResult[] => batch.map(({ id }) => ({ id, result: "asked" }));

  it("sends each once, in batches, in order", async () => {
    const got: BulkResult[] = [];
    const sizes: number[] = [];
    const send = (batch: Target[]) => {
      sizes.push(batch.length);
      return Promise.resolve(asked(batch));
    };
    await runBulk(targets, send, (r) => got.push(...r), new AbortController().signal);
    expect(sizes).toEqual([50, 50, 20]);
    expect(got.map((r) => r.id)).toEqual(targets.map((x) => x.id));
  });
  it("tries a batch once more, and then says that nothing is known of it", async () => {
    const got: BulkResult[] = [];
    let calls = 0;
    const send = (batch: Target[]) => {
      calls++;
      return calls === 1 || batch[0]?.id === "50" ? Promise.reject(new Error("no answer")) : Promise.resolve(asked(batch));
    };
    await runBulk(targets, send, (r) => got.push(...r), new AbortController().signal);
    expect([...tally(got)]).toEqual([
      ["asked", 70],
      ["unavailable", 50],
    ]);
    expect(got[50]?.message).toBe("no answer");
  });
  it("stops where a person says so", async () => {
    const stop = new AbortController();
    const got: BulkResult[] = [];
    await runBulk(
      targets,
      (b) => Promise.resolve(asked(b)),
      (r) => {
        got.push(...r);
        stop.abort();
      },
      stop.signal,
    );
    expect(got).toHaveLength(50);
  });
});

describe("the histogram", () => {
  const hour = 3_600_000;
  const at = (h: number) => new Date(now - (now % hour) + h * hour).toISOString();
  const h = bars({
    from: at(0),
    to: at(4),
    width_ms: hour,
    cut: false,
    buckets: [
      { at: at(0), states: { success: 3, failed: 1 } },
      { at: at(2), states: { running: 2 } },
    ],
  });
  it("stacks states, failures at the bottom", () => {
    expect(h.most).toBe(4);
    expect(h.columns[0]?.parts).toEqual([
      { state: "failed", from: 0, to: 1 },
      { state: "success", from: 1, to: 4 },
    ]);
  });
  it("turns a brush into whole buckets, in either direction", () => {
    expect(brushed(h, 0.3, 0.6)).toEqual({ from: at(1), to: at(3) });
    expect(brushed(h, 0.6, 0.3)).toEqual({ from: at(1), to: at(3) });
    expect(brushed(h, 0.5, 0.5)).toEqual({ from: at(2), to: at(3) });
    expect(brushed(h, -1, 2)).toEqual({ from: at(0), to: at(4) });
  });
});

describe("the file", () => {
  it("quotes what would split and disarms what would run", () => {
    const row = { id: "1", project: 'a,"b"', workflow: "=1+1", version: 2, state: "failed", round: 1, created_by: "ann" };
    // Only the named columns are read.
    expect(asCSV([row as Instance]).split("\r\n")[1]).toBe(`1,"a,""b""",'=1+1,2,failed,,1,ann,,,,`);
  });
});
