import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { en } from "../../i18n/en";
import { zhCN } from "../../i18n/zh-CN";
import { scheduleSays, whyKeys } from "./why";

// The server's tests keep this list equal to what its sources write.
const codes: string[] = JSON.parse(readFileSync(new URL("../../../../apiserver/testdata/schedule_codes.json", import.meta.url), "utf8"));

describe("why a schedule fires or does not", () => {
  it.each(codes)("%s has a sentence in both languages", (code) => {
    const said = scheduleSays({ code, text: "x" });
    expect(said).toBeDefined();
    for (const words of [en, zhCN]) expect(words).toHaveProperty([`schedules.say.${said?.key}`]);
  });

  it("has no sentence that no code uses", () => {
    const asked: Record<string, string>[] = [{}, { reason: "x" }];
    const used = new Set(codes.flatMap((code) => asked.map((args) => scheduleSays({ code, text: "", args })?.key)));
    expect(whyKeys.filter((k) => !used.has(k))).toEqual([]);
  });

  it("names moments, states and outcomes apart from the words", () => {
    expect(scheduleSays({ code: "schedule_after", text: "", args: { workflow: "load", states: "success or failed" } })).toEqual({
      key: "after",
      bad: false,
      values: { workflow: "load", text: "" },
      at: undefined,
      states: ["success", "failed"],
    });
    expect(
      scheduleSays({ code: "fire_missed", text: "", args: { at: "2026-01-01T00:00:00Z", reason: "misfire_none", instance: "7" } }),
    ).toEqual({
      key: "fire",
      bad: false,
      values: {},
      at: "2026-01-01T00:00:00Z",
      fire: { state: "missed", reason: "misfire_none", instance: "7" },
    });
    expect(scheduleSays({ code: "schedule_paused", text: "", args: { by: "ann", reason: "month end" } })).toMatchObject({
      key: "pausedWhy",
      bad: true,
      values: { by: "ann", reason: "month end" },
    });
  });

  it("leaves a code that is not known to the page, which shows it", () => {
    expect(scheduleSays({ code: "schedule_moon", text: "the moon is full" })).toBeUndefined();
  });
});
