import { describe, expect, it } from "vitest";
import { type Document, documentOf, draftOf, fresh } from "./draft";

describe("a schedule in its form", () => {
  const full: Document = {
    cron: "30 2 * * *",
    timezone: "Europe/Berlin",
    start: "2026-03-01",
    end: "2026-12-31",
    calendar: { skip: ["holidays"], only: ["business_days"], excluded: "next" },
    misfire: { policy: "all", max: 10, max_age: "24h", grace: "1m" },
    overlap: "wait",
    jitter: "90s",
    params: { day: 1, names: ["a", "b"], dry: true, text: "x" },
    worker_group: "big",
    priority: "high",
    on_failure: "end",
    dry_run: true,
  };

  it("goes through the form unchanged, with what the form has no field for", () => {
    expect(documentOf(draftOf(full), full)).toEqual(full);
  });

  it("is a document of one key where nothing was chosen", () => {
    expect(documentOf(fresh("daily", ""))).toEqual({ cron: "30 2 * * *" });
  });

  it("sends what was typed over a parameter, and forgets one that was emptied", () => {
    const draft = draftOf(full);
    const { names: _, ...kept } = draft.params;
    expect(documentOf({ ...draft, params: { ...kept, day: "2" } }, full).params).toEqual({ day: "2", dry: true, text: "x" });
  });

  it("leaves out what means nothing where an end fires", () => {
    const draft = { ...draftOf(full), when: { ...draftOf(full).when, kind: "after" as const, after: "load" } };
    expect(Object.keys(documentOf(draft, full)).sort()).toEqual(
      ["after", "dry_run", "on_failure", "overlap", "params", "priority", "timezone", "worker_group"].sort(),
    );
  });

  it("keeps the call that fires it, with what it is not asked for", () => {
    const called: Document = {
      webhook: { secret: "ci", params: { day: "release.day" } },
      timezone: "Asia/Tokyo",
      overlap: "skip",
      on_failure: "end",
    };
    expect(documentOf(draftOf(called), called)).toEqual(called);
  });

  it("asks for at most so many only where all late fires run", () => {
    expect(documentOf({ ...draftOf(full), misfire: "none" }, full).misfire).toEqual({ policy: "none", max_age: "24h", grace: "1m" });
  });
});
