import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { en } from "../i18n/en";
import { zhCN } from "../i18n/zh-CN";
import { remedyOf, rootCauses, sentenceOf, whyKeys } from "./explain";

// The server's tests keep this list equal to what its sources write.
const codes: string[] = JSON.parse(readFileSync(new URL("../../../apiserver/testdata/explain_codes.json", import.meta.url), "utf8"));

const argsOf: Record<string, string>[] = [
  { task: "a", child: "5" },
  { task: "a", dependent: "a" },
  { task: "a", approval: "a", missing: "2", quorum: "2" },
  { task: "a", approval: "a", missing: "1", quorum: "2", approved_by: "ann" },
  {},
  { task: "a" },
  { task: "a", worker: "w" },
  { task: "a", children: "4", ended: "2" },
  { task: "a", needs: "1" },
  { task: "a", reason: "when" },
  { labels: "zone=eu" },
  { project: "p", workflow: "w", date: "today" },
];

describe("reasons", () => {
  it.each(codes)("%s has a sentence in both languages", (code) => {
    const said = sentenceOf({ code, text: "x", args: { task: "a", worker: "w", needs: "2" } });
    expect(said).toBeDefined();
    const key = `why.${said?.key}`;
    for (const words of [en, zhCN]) expect(key in words || `${key}_other` in words, key).toBe(true);
  });

  it("have no sentence that no code uses", () => {
    const used = new Set(
      codes.flatMap((code) =>
        argsOf.flatMap((args) => [[], [{ code: "x", text: "y" }]].map((causes) => sentenceOf({ code, text: "", args, causes })?.key)),
      ),
    );
    expect(whyKeys.filter((k) => !used.has(k))).toEqual([]);
  });

  it("with an unknown code have none, so that the page shows the code", () => {
    expect(sentenceOf({ code: "moon_phase", text: "the moon is full" })).toBeUndefined();
  });

  it("tell a task from its instance, and a wait from an attempt", () => {
    expect(sentenceOf({ code: "running", text: "", args: { open: "3" } })).toMatchObject({ key: "instanceRunning", values: { count: 3 } });
    expect(sentenceOf({ code: "running", text: "", args: { task: "a", worker: "w" } })?.key).toBe("running");
    expect(sentenceOf({ code: "running", text: "", args: { task: "a", until: "2026-01-01T00:00:00Z" } })).toMatchObject({
      key: "runningWait",
      at: "2026-01-01T00:00:00Z",
    });
    expect(sentenceOf({ code: "failed", text: "", args: { task: "a", attempt: "2", reason: "exit_code" } })).toMatchObject({
      key: "taskFailed",
      reason: "exit_code",
      values: { count: 2 },
    });
  });

  it("name what may be done", () => {
    expect(remedyOf({ code: "quarantined", text: "" })).toEqual({ verb: "release" });
    expect(remedyOf({ code: "paused", text: "" })).toEqual({ verb: "resume" });
    expect(remedyOf({ code: "retry_wait", text: "", args: { task: "a" } })).toEqual({ verb: "skip", task: "a" });
    expect(remedyOf({ code: "success", text: "" })).toBeUndefined();
  });

  it("end at what is at fault, once each", () => {
    const failed = {
      code: "failed",
      text: "a failed",
      args: { task: "a" },
      causes: [{ code: "output", text: "its output ends: it said no", args: { line: "it said no" } }],
    };
    const tree = {
      code: "failed",
      text: "failed",
      causes: [failed, { code: "upstream_failed", text: "b", args: { task: "b" }, causes: [failed] }],
    };
    expect(rootCauses(tree)).toMatchObject([{ task: "a", code: "failed", text: "a failed", said: ["it said no"] }]);
  });
});
