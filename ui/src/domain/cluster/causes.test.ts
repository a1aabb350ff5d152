import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { causesOf } from "./causes";

describe("what the server says of a layout or a failover", () => {
  it.each([
    ["m-10 joined", "joined", { who: "m-10", n: "" }],
    ["m1 restarted", "restarted", { who: "m1", n: "" }],
    ["m1 has weight 3", "weight", { who: "m1", n: "3" }],
    ["m1 left", "left", { who: "m1", n: "" }],
    ["and 2 more", "more", { who: "", n: "2" }],
    ["asked for by Li Wei", "asked", { who: "Li Wei", n: "" }],
    ["the rebalance of m1:a was not finished", "unfinished", { who: "m1:a", n: "" }],
    ["the master left the registry", "absent", { who: "", n: "" }],
    ["worker w 1 is gone", "workerGone", { who: "w 1", n: "" }],
    ["worker w1 restarted without it", "workerRestarted", { who: "w1", n: "" }],
    ["3 members", "members", { who: "", n: "3" }],
    ["no ack to 3 tries", "noAck", { who: "", n: "3" }],
  ])("%s", (text, key, values) => expect(causesOf(text)).toEqual([{ key, values }]));

  it("is read part by part, and stays as it is where it is unknown", () => {
    expect(causesOf("m1 left, m2 joined, asked for by admin").map((c) => (typeof c === "string" ? c : c.key))).toEqual([
      "left",
      "joined",
      "asked",
    ]);
    expect(causesOf("m1 left, the moon rose")).toEqual([{ key: "left", values: { who: "m1", n: "" } }, "the moon rose"]);
    expect(causesOf("")).toEqual([]);
  });

  // Whoever changes the server's words finds out here.
  it.each([
    ["slot/coordinator.go", [" joined", " restarted", "%s has weight %d", " left", "and %d more", ", asked for by ", "the first layout"]],
    [
      "slot/coordinator.go",
      ["the registry lost the layout", "the rebalance of %s was not finished", "no layout stands", "%d members", "no ack to %d tries"],
    ],
    ["failover/account.go", ["the master left the registry", "the master was started again"]],
    ["engine/sweep.go", ["worker ", " restarted without it", " is gone"]],
  ])("is written in master/%s", (file, texts) => {
    const source = readFileSync(new URL(`../../../../master/${file}`, import.meta.url), "utf8");
    for (const text of texts) expect(source).toContain(`"${text}"`);
  });
});
