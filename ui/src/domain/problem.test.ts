import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { ApiError } from "../api/error";
import { type Say, sayer, speak } from "../i18n";
import { en } from "../i18n/en";
import { zhCN } from "../i18n/zh-CN";
import { said, sentenceOf, wrongFields } from "./problem";

// The server's own sources say which codes there are.

const root = new URL("../../../", import.meta.url).pathname;

function sources(...dirs: string[]): string {
  return (
    dirs
      .flatMap((dir) => readdirSync(join(root, dir), { recursive: true, encoding: "utf8" }).map((name) => join(root, dir, name)))
      .filter((path) => path.endsWith(".go") && !path.endsWith("_test.go"))
      // Why a dependency is not met is an explanation, not a refusal.
      .filter((path) => !path.includes("/dag/interval/"))
      .map((path) => readFileSync(path, "utf8"))
      .join("\n")
  );
}

/** refusals are the codes of what the server refuses: those with a name, and those written where they are used. */
function refusals(): Set<string> {
  const text = sources("apiserver", "dag");
  const named = new Map([...text.matchAll(/\b((?:[cC]ode|result)[A-Z]\w*)\s*=\s*"([a-z_]+)"/g)].map((m) => [m[1] ?? "", m[2] ?? ""]));
  const codes = new Set([...named].filter(([name]) => !name.startsWith("result")).map(([, code]) => code));
  const literal = [
    /wrongField\([^,\n]+,\s*(?:"[^"\n]*"|[\w.]+(?:\([^()\n]*\))?),\s*"([a-z_]+)"/g,
    /FieldError\{+\s*Field:[^{}]*?Code:\s*"([a-z_]+)"/g,
    /\bfail\((?:"[^"\n]*"|[\w.]+),\s*"([a-z_]+)"/g,
    /\bnote\("([a-z_]+)"/g,
  ];
  for (const pattern of literal) for (const [, code] of text.matchAll(pattern)) codes.add(code ?? "");
  for (const [, name] of text.matchAll(/wrongField\([^,\n]+,\s*"[^"\n]*",\s*(result\w+)/g)) codes.add(named.get(name ?? "") ?? "");
  const huma = /func codeOf\(msg string\)[\s\S]*?\n}/.exec(text)?.[0] ?? "";
  for (const [, code] of huma.matchAll(/return "([a-z_]+)"/g)) codes.add(code ?? "");
  return codes;
}

describe("the codes of what the server refuses", () => {
  const codes = refusals();

  it("are found in its sources", () => {
    expect(codes.size).toBeGreaterThan(80);
    for (const one of [
      "required",
      "wrong_state",
      "circle",
      "parent_running",
      "needs_editor",
      "invalid_time",
      "unknown_parameter",
      "stale",
    ]) {
      expect(codes, one).toContain(one);
    }
  });

  it("all have words", () => {
    const mute = [...codes].filter((code) => sentenceOf("", code) === undefined && !(`code.${code}` in en) && !(`text.p.${code}` in en));
    expect(mute.sort()).toEqual([]);
  });

  it("are the only ones that have", () => {
    const of = Object.keys(en).flatMap((key) => /^code\.(.*)/.exec(key)?.[1] ?? []);
    expect(of.filter((code) => !codes.has(code))).toEqual([]);
  });
});

describe("the codes of what happens in an instance", () => {
  it("all have words", () => {
    const codes = [...readFileSync(join(root, "dag/instance.go"), "utf8").matchAll(/EventCode\s*=\s*"([a-z_]+)"/g)].map((m) => m[1]);
    expect(codes.length).toBeGreaterThan(9);
    expect(codes.filter((code) => !(`event.${code}` in en))).toEqual([]);
  });
});

describe("a cron that is out of range", () => {
  const words: Say = (key, values) => `${key} ${values?.column} ${values?.value} ${values?.range}`;
  const wrongCron = (message: string) =>
    wrongFields(new ApiError(422, "wrong", "r1", [{ field: "cron", code: "out_of_range", message, value: "61", column: 3 }]), words).cron;

  it("says what is allowed", () => {
    expect(wrongCron("hour 61 is not in 0-23")).toBe("cron.err.out_of_range 3 61 0-23");
    expect(wrongCron("day of month: L wants a number in 1-30")).toBe("cron.err.out_of_range 3 61 1-30");
    expect(wrongCron("@every 61 is not a number of whole seconds in 1s-366d")).toBe("cron.err.out_of_range 3 61 1s-366d");
  });

  it("says so without a range where the answer has none", () => {
    expect(wrongCron("61 is beyond what is allowed")).toMatch(/^cron\.err\.beyond 3 61/);
  });
});

describe("a refusal", () => {
  const refused = (field: string, code: string, message: string, value?: string) =>
    new ApiError(422, message, "r1", [{ field, code, message, ...(value !== undefined && { value }) }]);

  it("is told in the server's own words in English", () => {
    const t: Say = (key) => key;
    expect(wrongFields(refused("older", "invalid_duration", "is not a duration like 90s"), t)).toEqual({
      older: "is not a duration like 90s",
    });
    expect(said(refused("state", "wrong_state", "the instance is running"), t)).toBeUndefined();
  });

  describe("in Chinese", () => {
    const t = sayer(zhCN, "zh-CN");
    beforeAll(() => {
      vi.stubGlobal("document", { documentElement: {} });
      return speak("zh-CN");
    });
    afterAll(async () => {
      await speak("en");
      vi.unstubAllGlobals();
    });

    it("is told in Chinese, whatever the server says", () => {
      expect(wrongFields(refused("older", "invalid_duration", "is not a duration like 90s"), t)).toEqual({
        older: "older 不是形如 90s、10m 或 2h 的时长",
      });
      expect(said(refused("state", "wrong_state", "the instance is running"), t)).toBe("当前状态下无法执行");
      expect(said(refused("retry", "wrong_type", "is a list", "[1]"), t)).toMatch(/retry/);
    });

    it("stays as the server has it where a code is new", () => {
      expect(wrongFields(refused("moon", "is_cheese", "the moon is cheese"), t)).toEqual({ moon: "the moon is cheese" });
      expect(said(refused("moon", "is_cheese", "the moon is cheese"), t)).toBeUndefined();
    });
  });
});
