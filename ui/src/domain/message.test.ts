import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sayer } from "../i18n";
import { en } from "../i18n/en";
import { zhCN } from "../i18n/zh-CN";
import { messageKeys, messageOf } from "./message";

const root = new URL("../../../", import.meta.url).pathname;
const sources = ["worker", "dag", "master"]
  .flatMap((dir) => readdirSync(join(root, dir), { recursive: true, encoding: "utf8" }).map((name) => join(root, dir, name)))
  .filter((path) => path.endsWith(".go") && !path.endsWith("_test.go"))
  .map((path) => readFileSync(path, "utf8"))
  .join("\n");

describe("what the server says of an attempt", () => {
  it("has a sentence in both languages", () => {
    const [english, chinese] = [sayer(en, "en"), sayer(zhCN, "zh-CN")];
    const said = messageOf("ended with code 137");
    expect(said).toEqual({ key: "code", values: { n: "137", id: "" } });
    expect(english("message.code", { n: "137" })).toBe("ended with code 137");
    expect(chinese("message.code", { n: "137" })).toBe("以退出码 137 结束");
    expect(messageOf("item 3, child instance 42")?.values).toEqual({ n: "3", id: "42" });
    expect(messageOf("ended with code 1, says the script")).toBeUndefined();
  });

  // Its English is the server's own, so that each is found in the server's sources.
  it.each(messageKeys)("%s is what the server writes", (key) => {
    const sentence = en[`message.${key}`];
    expect(messageOf(sentence.replace("{{n}}", "7").replace("{{id}}", "8"))?.key).toBe(key);
    for (const part of sentence.split(/\{\{\w+\}\}/).filter((p) => p.trim() !== "")) expect(sources).toContain(part);
  });
});
