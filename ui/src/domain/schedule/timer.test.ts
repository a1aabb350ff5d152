import { describe, expect, it } from "vitest";
import type { Timer } from "../../api/timers";
import { freshTimer, timerDraft, timerOf } from "./timer";

describe("a timer's form", () => {
  it("gives back what it was made of", () => {
    const def = {
      app: "shop",
      name: "ping",
      cron: "*/5 * * * * *",
      dialect: "quartz" as const,
      timezone: "Asia/Tokyo",
      notifyHTTPParam: {
        url: "https://example.org/x?a=b:c",
        method: "PATCH" as const,
        header: { "X-A": ["1", "2"], Accept: ["text/plain; q=0.5"] },
        body: '{"hello": true}\n',
        timeoutSeconds: 7,
        maxTries: 3,
      },
    };
    const shown = {
      ...def,
      id: 42,
      enabled: true,
      failures: 0,
      createdBy: "",
      createdAt: "",
      changedBy: "",
      changedAt: "",
    } satisfies Timer;
    expect(timerDraft(shown).headers).toBe("X-A: 1\nX-A: 2\nAccept: text/plain; q=0.5");
    expect(timerOf(timerDraft(shown), "shop")).toEqual(def);
  });

  it("leaves out what stands empty, and reads headers by line", () => {
    const d = { ...freshTimer("UTC"), name: " ping ", cron: " @hourly ", url: " http://example.org ", headers: "\n X-A : 1:2 \nlonely\n" };
    expect(timerOf(d, "shop")).toEqual({
      app: "shop",
      name: "ping",
      cron: "@hourly",
      timezone: "UTC",
      notifyHTTPParam: { url: "http://example.org", method: "POST", header: { "X-A": ["1:2"], lonely: [""] } },
    });
  });

  it("sends what is no number as one that the server refuses", () => {
    const call = timerOf({ ...freshTimer("UTC"), seconds: "soon", tries: "5" }, "shop").notifyHTTPParam;
    expect([call.timeoutSeconds, call.maxTries]).toEqual([-1, 5]);
  });
});
