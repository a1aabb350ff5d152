import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const source = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

const script = readFileSync(source, "utf8");
const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
// What another theme can change, and what another width can; the rest is of the elements, which are the same in each.
const parts = {
  colours: ["color-contrast", "link-in-text-block"],
  layout: ["target-size", "scrollable-region-focusable", "aria-hidden-focus", "button-name", "link-name", "label", "nested-interactive"],
};

/**
 * check gives every violation of WCAG 2.2 AA on the page as a line; with "colours" or "layout" only those that another
 * theme or another width could have. In evaluate, the page's policy does not bind.
 */
export async function check(page, where, only = "everything") {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(script);
  await page.evaluate(still);
  const found = await page.evaluate(
    async (runOnly) => {
      const answer = await window.axe.run(document, { runOnly, resultTypes: ["violations"], preload: false });
      return answer.violations.map(
        (v) =>
          `${v.id}: ${v.nodes
            .map((n) => `${n.target.join(" ")} ${n.any[0]?.message ?? ""}`)
            .slice(0, 3)
            .join(" | ")}`,
      );
    },
    only in parts ? { type: "rule", values: parts[only] } : { type: "tag", values: standards },
  );
  return found.map((f) => `${where}: ${f}`);
}

/** inBoth holds the page to axe as it is, in one theme and in the other: it is not left for that. */
export async function inBoth(page, where) {
  const wrong = [];
  for (const theme of ["dark", "light"]) {
    await page.evaluate((t) => document.documentElement.setAttribute("data-mantine-color-scheme", t), theme);
    wrong.push(...(await check(page, `${where}, ${theme}`, theme === "dark" ? "colours" : "everything")));
  }
  return wrong;
}

/**
 * still ends when nothing moves: a colour half-way between two is not what a person reads. What a page hears of (another
 * theme, say) it draws in its next frame, and only there a transition begins: so it looks again after each.
 */
async function still() {
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  for (;;) {
    for (let i = 0; i < 4; i++) await frame();
    const moving = document.getAnimations().filter((a) => a.playState === "running" && a.effect?.getTiming().iterations !== Infinity);
    if (moving.length === 0) return;
    await Promise.allSettled(moving.map((a) => a.finished));
  }
}
