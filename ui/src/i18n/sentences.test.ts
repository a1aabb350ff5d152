import { describe, expect, it } from "vitest";
import { lookOf } from "../domain/states";
import { en, type Key } from "./en";
import { zhCN } from "./zh-CN";

const keys = Object.keys(en) as Key[]; // Object.keys forgets what en is made of
const holes = (text: string) => [...text.matchAll(/\{\{(\w+)\}\}/g)].map((m) => m[1]).sort();

describe("sentences", () => {
  it("are the same in both languages", () => expect(Object.keys(zhCN).sort()).toEqual([...keys].sort()));
  it.each(keys)("%s takes the same values in both", (key) => expect(holes(zhCN[key])).toEqual(holes(en[key])));
  it("have the marks of their script in Chinese", () => {
    // A tag of YAML keeps its own.
    const halves = /[\u4e00-\u9fff](?:[,;:?!] ?|[()])|[,;?!()][\u4e00-\u9fff]/;
    expect(keys.filter((key) => halves.test(zhCN[key].replace("（!名称）", "")))).toEqual([]);
  });
  it("have one word for a thing in Chinese", () => {
    // A master, a worker, 工作组 for a worker group: as the pages of the cluster and DolphinScheduler's users have them.
    expect(keys.filter((key) => /主节点|工作节点|worker ?组/.test(zhCN[key]))).toEqual([]);
  });
  it("are never empty", () => expect(keys.filter((key) => !en[key].trim() || !zhCN[key].trim())).toEqual([]));
  it("have a word for every state that is drawn", () => {
    for (const key of keys.filter((k) => k.startsWith("state.") && k !== "state.outside")) {
      expect(lookOf(key.slice("state.".length)).glyph, key).not.toBe(key === "state.quarantined" || key === "state.lost" ? "" : "question");
    }
  });
});
