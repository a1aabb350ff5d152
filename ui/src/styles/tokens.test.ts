import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./tokens.css", import.meta.url), "utf8");

function block(selector: string): Map<string, string> {
  const start = css.indexOf(`${selector} {`);
  const body = css.slice(start, css.indexOf("}", start));
  return new Map([...body.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1] ?? "", m[2] ?? ""]));
}

function luminance(hex: string): number {
  const part = (i: number) => {
    const v = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

describe.each([
  ["light", block(":root")],
  ["dark", block(':root[data-mantine-color-scheme="dark"]')],
])("tokens of the %s theme", (_, tokens) => {
  const states = [...tokens.keys()].filter((name) => /^st-[a-z]+$/.test(name));
  const of = (name: string) => tokens.get(name) ?? "#000000";

  it("has all eight hues", () => expect(states).toHaveLength(8));
  // Skipped is faint on purpose, and always stands beside its word.
  it.each(states)("%s is seen on the ground", (name) => expect(contrast(of(name), of("ground"))).toBeGreaterThanOrEqual(3));
  it.each(states)("%s-text can be read on every ground", (name) => {
    for (const ground of ["ground", "ground-2", "ground-3", "failed-ground"]) {
      expect(contrast(of(`${name}-text`), of(ground)), ground).toBeGreaterThanOrEqual(4.5);
    }
  });
  it.each(["ink", "ink-2"])("%s can be read on every ground", (name) => {
    for (const ground of ["ground", "ground-2", "ground-3", "log-ground"])
      expect(contrast(of(name), of(ground)), ground).toBeGreaterThanOrEqual(4.5);
  });
  it("draws the border of a control visibly", () => expect(contrast(of("line-strong"), of("ground"))).toBeGreaterThanOrEqual(3));
});
