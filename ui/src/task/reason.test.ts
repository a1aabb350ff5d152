import { describe, expect, it } from "vitest";
import { reasonsOf } from "./reason";

describe("reasonsOf", () => {
  it("names what lies below a task that waits", () => {
    const group = { code: "no_worker", text: "no worker of group gpu is alive" };
    expect(reasonsOf({ code: "ready", text: "load is ready", causes: [group] })).toEqual([group]);
  });

  it("names the task's own state where nothing lies below", () => {
    const own = { code: "retry_wait", text: "attempt 1 of load failed; attempt 2 may start in 20 s" };
    expect(reasonsOf(own)).toEqual([own]);
  });
});
