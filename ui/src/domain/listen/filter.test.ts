import { describe, expect, it } from "vitest";
import { filterOf, nothing, presetOf, presets, tellsFailures } from "./filter";

describe("presets", () => {
  it("are known again by their filters", () => {
    for (const preset of presets) {
      if (preset === "own") continue;
      expect(presetOf(filterOf(preset, nothing)).preset).toBe(preset);
    }
  });

  it("a filter of one's own keeps what the form does not show", () => {
    const filter = filterOf("own", { ...nothing, events: ["ended"], when: " state == 'failed' " }, { schedules: ["nightly"] });
    expect(filter).toEqual({ events: ["ended"], when: "state == 'failed'", schedules: ["nightly"] });
    expect(presetOf(filter)).toMatchObject({ preset: "own", own: { events: ["ended"] } });
  });
});

describe("tellsFailures", () => {
  it("is so for what hears everything, and for failures", () => {
    expect(tellsFailures({}, true)).toBe(true);
    expect(tellsFailures(filterOf("failures", nothing), true)).toBe(true);
  });

  it("is not so for what is off, hears other events, other states or single tasks", () => {
    expect(tellsFailures({}, false)).toBe(false);
    expect(tellsFailures({ events: ["task_timeout"] }, true)).toBe(false);
    expect(tellsFailures({ states: ["success"] }, true)).toBe(false);
    expect(tellsFailures({ tasks: ["load"] }, true)).toBe(false);
  });
});
