import { describe, expect, it } from "vitest";
import { blank, rulesOf, shownCron, type When, whenOf, withCron } from "./when";

const of = (part: Partial<When>): When => ({ ...blank, ...part });

describe("when a schedule fires", () => {
  it.each<[Partial<When>, string]>([
    [{ kind: "every", n: 1, unit: "minute" }, "* * * * *"],
    [{ kind: "every", n: 15, unit: "minute" }, "*/15 * * * *"],
    [{ kind: "every", n: 90, unit: "minute" }, "@every 90m"],
    [{ kind: "every", n: 7, unit: "minute" }, "@every 7m"],
    [{ kind: "every", n: 1, unit: "hour" }, "0 * * * *"],
    [{ kind: "every", n: 6, unit: "hour" }, "0 */6 * * *"],
    [{ kind: "every", n: 36, unit: "hour" }, "@every 36h"],
    [{ kind: "daily", time: "02:30" }, "30 2 * * *"],
    [{ kind: "weekly", time: "17:05", days: ["FRI", "MON"] }, "5 17 * * MON,FRI"],
    [{ kind: "monthly", time: "00:00", day: 15 }, "0 0 15 * *"],
    [{ kind: "monthly", time: "08:00", day: 0 }, "0 0 8 L * ?"],
  ])("%o is %s, and is read back as the same words", (part, cron) => {
    const rules = rulesOf(of(part));
    expect(rules).toEqual({ cron });
    const again = whenOf(rules);
    expect(again.kind).toBe(part.kind);
    expect(rulesOf(again)).toEqual(rules);
  });

  it.each(["30 2 * * 1-5", "*/7 * * * *", "0 30 2 ? * MON", "@daily", "05 2 * * *", "5 17 * * FRI,MON", "0 13 * * 5", "61 5 * * *"])(
    "%s has no words and stays an expression, letter by letter",
    (cron) => {
      expect(whenOf({ cron })).toMatchObject({ kind: "cron", cron });
      expect(rulesOf(whenOf({ cron }))).toEqual({ cron });
    },
  );

  it("leaves an expression of a named dialect to its author", () => {
    const rules = { cron: "30 2 * * *", dialect: "unix" } as const;
    expect(whenOf(rules).kind).toBe("cron");
    expect(rulesOf(whenOf(rules))).toEqual(rules);
  });

  it("reads moments by line, and the ends of a workflow in their order", () => {
    expect(rulesOf(of({ kind: "at", at: " 2026-03-01 \n\n2026-03-02 05:00" }))).toEqual({ at: ["2026-03-01", "2026-03-02 05:00"] });
    const after = { after: { workflow: "warehouse/load", states: ["success", "failed"] } };
    expect(rulesOf(whenOf(after))).toEqual(after);
    expect(whenOf({ after: { workflow: "load" } }).states).toEqual(["success"]);
  });

  it("reads what the body of a call gives by line", () => {
    const webhook = { webhook: { secret: "ci", params: { day: "release.day", tag: "refs.0" } } };
    expect(rulesOf(whenOf(webhook))).toEqual(webhook);
    expect(rulesOf(of({ kind: "webhook", secret: " ci ", given: "day" }))).toEqual({ webhook: { secret: "ci", params: { day: "" } } });
    expect(rulesOf(whenOf({ webhook: { secret: "ci" } }))).toEqual({ webhook: { secret: "ci" } });
  });
});

describe("an expression that is typed", () => {
  const shown = (w: When) => shownCron(w).cron;

  it("becomes words where there are some, and shows what was typed all the same", () => {
    const w = withCron(of({ kind: "daily" }), "5 17 * * MON,FRI");
    expect(w).toMatchObject({ kind: "weekly", time: "17:05", days: ["MON", "FRI"] });
    expect(shown(w)).toBe("5 17 * * MON,FRI");
    expect(shown({ ...w, time: "18:00" })).toBe("0 18 * * MON,FRI");
  });

  it("stays as it stands where there are none, letter by letter, also on its way to another", () => {
    let w: When = of({ kind: "daily" });
    const typed = "0 5 2 * * ?";
    for (let n = 1; n <= typed.length; n++) {
      w = withCron(w, typed.slice(0, n));
      expect(shown(w)).toBe(typed.slice(0, n));
    }
    expect(w.kind).toBe("cron");
    expect(rulesOf(w)).toEqual({ cron: typed });
  });

  it("of a named dialect has no words, until the dialect is taken back", () => {
    const w = withCron(of({ kind: "daily", time: "02:30" }), "30 2 * * *", "unix");
    expect(rulesOf(w)).toEqual({ cron: "30 2 * * *", dialect: "unix" });
    expect(withCron(w, "30 3 * * *")).toMatchObject({ kind: "cron", cron: "30 3 * * *" });
    expect(withCron(w, "30 2 * * *", "")).toMatchObject({ kind: "daily", time: "02:30" });
  });
});
