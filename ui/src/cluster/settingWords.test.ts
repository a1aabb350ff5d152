import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { settingWords } from "./settingWords";

it("every setting of the server has words in each language, and no other has", () => {
  const folder = new URL("../../../cmd/porpoise/", import.meta.url);
  const keys = new Set<string>();
  for (const file of readdirSync(folder).filter((f) => f.endsWith(".go"))) {
    for (const [, key] of readFileSync(new URL(file, folder), "utf8").matchAll(/`key:"([^"]+)" about:"/g)) if (key) keys.add(key);
  }
  expect(keys.size).toBeGreaterThan(40);
  expect(Object.keys(settingWords).toSorted()).toEqual([...keys].toSorted());
});
