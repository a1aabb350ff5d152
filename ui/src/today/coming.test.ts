import { expect, it } from "vitest";
import type { Schedule } from "../api/schedules";
import { comingFires, lateFires } from "./coming";

// A test names what it is about; the rest of a schedule's document is not read here.
const schedule = (name: string, part: Partial<Schedule>) => ({ name, enabled: true, next_at: "", ...part }) as Schedule;
const fired = (state: string, at: string) => ({ state, at }) as NonNullable<Schedule["last"]>;

it("the next fires are those of enabled schedules, the first one first, ten at most", () => {
  const many = Array.from({ length: 12 }, (_, i) => schedule(`h${i}`, { next_at: `2026-01-01T${String(23 - i).padStart(2, "0")}:00:00Z` }));
  const off = schedule("off", { enabled: false, next_at: "2026-01-01T00:00:00Z" });
  const got = comingFires([off, schedule("never", {}), ...many]).map((s) => s.name);
  expect(got).toHaveLength(10);
  expect(got[0]).toBe("h11");
  expect(got).not.toContain("off");
});

it("late ones are those whose last fire was not as planned, the newest first", () => {
  const list = [
    schedule("well", { last: fired("fired", "2026-01-04T00:00:00Z") }),
    schedule("missed", { last: fired("missed", "2026-01-01T00:00:00Z") }),
    schedule("late", { last: fired("late", "2026-01-03T00:00:00Z") }),
    schedule("paused", { enabled: false, last: fired("missed", "2026-01-02T00:00:00Z") }),
  ];
  expect(lateFires(list).map((s) => s.name)).toEqual(["late", "missed"]);
});
